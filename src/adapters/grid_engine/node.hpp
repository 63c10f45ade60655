// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds out the facts about the node that grid-engine-shepherd needs.
#pragma once

#include "adapters/grid_engine/jobs_output.hpp"
#include "adapters/grid_engine/translate.hpp"
#include "base/cpu_list.hpp"
#include "base/result.hpp"
#include "os/topology.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// Returns the path of the real sge_shepherd. The real sge_shepherd is in the directory of the sge_execd that started this
/// program, or in the directory that the cell's bootstrap file names. The job's environment cannot change which sge_shepherd the
/// function finds. If no directory has an sge_shepherd, the error is Internal, and its message lists the searched directories.
Result<std::string> findRealShepherd();

/// Finds the user with the given name. The error is InvalidArgument if the name service does not know the user. (sge_execd also
/// holds a job whose user the name service does not know.)
Result<JobOwner> findOwner(const std::string& name);

/// Returns all hyper-threads of the given cores, or an empty list if the node does not have the cores.
CpuList cpusOf(const std::vector<GridEngineCore>& cores, const Topology& topology);

} // namespace pinfold
