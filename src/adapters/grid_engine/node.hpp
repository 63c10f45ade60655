// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds out what the wrapper has to know about its node.
#pragma once

#include "adapters/grid_engine/jobs_output.hpp"
#include "adapters/grid_engine/translate.hpp"
#include "base/cpu_list.hpp"
#include "base/result.hpp"
#include "os/topology.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// The program beside the sge_execd that started us, or else in the directory of programs that the cell's bootstrap file names.
/// What the job brings along is never used. Error: Internal, with the places that were searched.
Result<std::string> findRealShepherd();

/// Error: InvalidArgument when the name service has no such user. (sge_execd holds such jobs, too.)
Result<JobOwner> findOwner(const std::string& name);

/// All hyper-threads of these cores; empty when there are no such cores.
CpuList cpusOf(const std::vector<GridEngineCore>& cores, const Topology& topology);

} // namespace pinfold
