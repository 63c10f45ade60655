// SPDX-License-Identifier: LGPL-2.1-or-later
// What pinfoldd says of live jobs and of the node, as dictionaries: what pinfoldd sends (toDict), and what clients make of it, as
// in receipt_dict.hpp.
#pragma once

#include "bus_values/dict.hpp"
#include "model/drain.hpp"
#include "model/job_info.hpp"
#include "model/reconciliation.hpp"

namespace pinfold {

Dict toDict(const JobInfo& job);
JobInfo jobFrom(const Dict& dict);

Dict toDict(const JobProcess& process);
JobProcess processFrom(const Dict& dict);

Dict toDict(const Reconciliation& found);
Reconciliation reconciliationFrom(const Dict& dict);

/// The property DrainDetails: since, by.
Dict drainDetails(const std::optional<Drain>& drain);
/// The drain, as the manager's properties give it. Unset: the node is not drained.
std::optional<Drain> drainFrom(const Dict& properties);

} // namespace pinfold
