// SPDX-License-Identifier: LGPL-2.1-or-later
// What the wrapper has to find out about the node that it runs on.
#pragma once

#include "base/cpu_list.hpp"
#include "base/result.hpp"
#include "os/topology.hpp"
#include "schedulers/grid_engine.hpp"
#include "shepherd/jobs_output.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// The program beside the sge_execd that started us, or else where the cell's bootstrap file says that programs are. Never from
/// what the job brings along. Error: Internal, with what was looked for.
Result<std::string> findRealShepherd();

/// Error: InvalidArgument when the name service has no such user; sge_execd holds such jobs too.
Result<JobOwner> findOwner(const std::string& name);

/// All hyper-threads of these cores; empty when there are no such.
CpuList cpusOf(const std::vector<GridEngineCore>& cores, const Topology& topology);

} // namespace pinfold
