// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts the options of requests to D-Bus dictionaries, and D-Bus dictionaries to options. Clients send the dictionaries that
// toDict() returns. pinfoldd reads each entry with an entry reader, and checks every entry. If pinfoldd does not know an entry,
// pinfoldd returns the error InvalidArgument with the name of the entry.
#pragma once

#include "bus_values/entry_readers.hpp"
#include "model/allocation.hpp"
#include "model/job_identity.hpp"
#include "store/history.hpp"

namespace pinfold {

/// For each limit, adds a reader to `readers`. The function toDict() for limits is in receipt_dict.hpp.
void addLimitReaders(EntryReaders& readers, ResourceLimits& limits);
Result<ResourceLimits> readLimits(const Dict& options);

Dict toDict(const AllocationRequest& request);
void addAllocationReaders(EntryReaders& readers, AllocationRequest& request);

/// Adds readers for the entries of a JobIdentity. The function toDict() for a JobIdentity is in receipt_dict.hpp.
void addIdentityReaders(EntryReaders& readers, JobIdentity& identity);

Dict toDict(const ReceiptFilter& filter);
Result<ReceiptFilter> readReceiptFilter(const Dict& options);

Dict toDict(const VacuumRequest& request);
Result<VacuumRequest> readVacuumRequest(const Dict& options);

/// Makes a dictionary with the entries exit_status and exit_signal.
Dict toDict(const ExitState& exit);
/// Adds readers for the entries exit_status and exit_signal. The readers do not refuse a report that has both exit_status and
/// exit_signal, so the caller has to refuse such a report.
void addExitReaders(EntryReaders& readers, ExitState& exit);

} // namespace pinfold
