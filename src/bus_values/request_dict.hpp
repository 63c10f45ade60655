// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts between dictionaries and the options of requests. Clients send toDict(), and pinfoldd reads it with the readers.
// pinfoldd checks every entry, and refuses an entry that it does not know with the error InvalidArgument and the entry's name.
#pragma once

#include "bus_values/entry_readers.hpp"
#include "model/allocation.hpp"
#include "store/history.hpp"

namespace pinfold {

/// Adds the readers of all limits. receipt_dict.hpp has toDict() for limits.
void addLimitReaders(EntryReaders& readers, ResourceLimits& limits);
Result<ResourceLimits> readLimits(const Dict& options);

Dict toDict(const AllocationRequest& request);
void addAllocationReaders(EntryReaders& readers, AllocationRequest& request);

Dict toDict(const ReceiptFilter& filter);
Result<ReceiptFilter> readReceiptFilter(const Dict& options);

Dict toDict(const Retention& retention);
Result<Retention> readRetention(const Dict& options);

/// Makes a dictionary with the entries exit_status and exit_signal.
Dict toDict(const ExitState& exit);
/// Adds the readers of an ExitState. The caller must also refuse a report with both entries.
void addExitReaders(EntryReaders& readers, ExitState& exit);

} // namespace pinfold
