// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds out what grid-engine-shepherd has to know about its node.
#pragma once

#include "adapters/grid_engine/jobs_output.hpp"
#include "adapters/grid_engine/translate.hpp"
#include "base/cpu_list.hpp"
#include "base/result.hpp"
#include "os/topology.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// Returns the path of the real sge_shepherd. The real sge_shepherd is beside the sge_execd that started this program, or in the
/// directory that the cell's bootstrap file names. The job's environment has no influence. Error: Internal, with the searched
/// places.
Result<std::string> findRealShepherd();

/// Finds the user. Error: InvalidArgument if the name service has no such user. (sge_execd holds such jobs, too.)
Result<JobOwner> findOwner(const std::string& name);

/// Returns all hyper-threads of these cores, or an empty list if there are no such cores.
CpuList cpusOf(const std::vector<GridEngineCore>& cores, const Topology& topology);

} // namespace pinfold
