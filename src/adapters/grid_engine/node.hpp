// SPDX-License-Identifier: LGPL-2.1-or-later
// The functions of this header find three things on the node: the real sge_shepherd, the owner of a job, and the CPUs of cores.
#pragma once

#include "adapters/grid_engine/jobs_output.hpp"
#include "adapters/grid_engine/translate.hpp"
#include "base/cpu_list.hpp"
#include "base/result.hpp"
#include "os/topology.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// Returns the path of the real sge_shepherd. findRealShepherd() looks in the directory of the sge_execd that started
/// grid-engine-shepherd. If sge_shepherd is not in the directory of sge_execd, findRealShepherd() looks in the directory
/// `binary_path` of the cell's bootstrap file. sge_shepherd can also be in the subdirectory lx-amd64 of `binary_path`. The job's
/// environment does not influence which path findRealShepherd() returns. If no searched directory has an sge_shepherd, the error
/// is Internal. The message of the error lists the searched directories.
Result<std::string> findRealShepherd();

/// Finds the user with the given name. The error is InvalidArgument if the name service does not know the user. (sge_execd puts a
/// job on hold if the name service does not know the job's user.)
Result<JobOwner> findOwner(const std::string& name);

/// Returns all hyper-threads of the given cores, or an empty list if the node does not have the cores.
CpuList cpusOf(const std::vector<GridEngineCore>& cores, const Topology& topology);

} // namespace pinfold
