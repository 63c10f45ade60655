// SPDX-License-Identifier: LGPL-2.1-or-later
// The options of requests as dictionaries: what clients send (toDict), and what pinfoldd reads. pinfoldd checks every entry, and
// refuses an entry that it does not know: Error InvalidArgument, with the name of the entry.
#pragma once

#include "bus_values/entry_readers.hpp"
#include "model/allocation.hpp"
#include "store/history.hpp"

namespace pinfold {

/// The readers of all limits. receipt_dict.hpp has toDict() for limits.
void addLimitReaders(EntryReaders& readers, ResourceLimits& limits);
Result<ResourceLimits> readLimits(const Dict& options);

Dict toDict(const AllocationRequest& request);
void addAllocationReaders(EntryReaders& readers, AllocationRequest& request);

Dict toDict(const ReceiptFilter& filter);
Result<ReceiptFilter> readReceiptFilter(const Dict& options);

Dict toDict(const Retention& retention);
Result<Retention> readRetention(const Dict& options);

/// exit_status, exit_signal.
Dict toDict(const ExitState& exit);
/// The readers of an ExitState. The caller must also refuse a report with both entries.
void addExitReaders(EntryReaders& readers, ExitState& exit);

} // namespace pinfold
