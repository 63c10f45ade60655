// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts between D-Bus dictionaries and pinfoldd's data about live jobs and the node. pinfoldd sends the dictionaries that
// toDict() returns. Clients read the dictionaries with the functions whose names end in "From".
#pragma once

#include "bus_values/dict.hpp"
#include "model/drain.hpp"
#include "model/job_info.hpp"
#include "model/node_resources.hpp"
#include "model/reconciliation.hpp"

namespace pinfold {

Dict toDict(const JobInfo& job);
JobInfo jobFrom(const Dict& dict);

Dict toDict(const JobProcess& process);
JobProcess processFrom(const Dict& dict);

Dict toDict(const Reconciliation& found);
Reconciliation reconciliationFrom(const Dict& dict);

/// Makes the property Resources.
Dict toDict(const NodeResources& resources);
/// Reads the property Resources from the properties of the manager object. If an older pinfoldd does not have the property
/// Resources, all members of the result are unset.
NodeResources resourcesFrom(const Dict& properties);

/// Makes the property DrainDetails, which has the entries `since` and `by`.
Dict drainDetails(const std::optional<Drain>& drain);
/// Reads the reason and the details of the node's drain from the properties of the manager object. Returns nullopt if the node
/// is not drained.
std::optional<Drain> drainFrom(const Dict& properties);

} // namespace pinfold
