// SPDX-License-Identifier: LGPL-2.1-or-later
// Grid Engine: Son of Grid Engine 8.1.9, and versions that share its shepherd_cmd and spool directory. This file derives what a
// job is and may use from what sge_execd tells sge_shepherd. Reference: sge_shepherd(8), sge_conf(5), and
// daemons/shepherd/setrlimits.c of 8.1.9.
#pragma once

#include "adapters/grid_engine/spool_config.hpp"
#include "base/result.hpp"
#include "model/resource_limits.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Where a job's standard error goes.
struct GridEngineOutput {
    std::string path; ///< empty: it goes to no file
    std::string name; ///< the file's name, if `path` is a directory
};

/// A core in Grid Engine's numbers, which begin with 0. Sockets are in the order of their lowest CPU, and so are the cores of a
/// socket.
struct GridEngineCore {
    unsigned socket = 0;
    unsigned core = 0;

    bool operator==(const GridEngineCore&) const = default;
};

/// The job, or the task of it, that one shepherd has to run.
struct GridEngineJob {
    std::string key;   ///< sge.<job>, or for a task of an array sge.<job>.<task>
    std::string owner; ///< login name
    bool slaveTask = false;
    ResourceLimits limits;
    std::uint64_t slots = 1;           ///< on this host
    std::vector<GridEngineCore> cores; ///< the cores to which sge_execd has bound it; empty: none
    GridEngineOutput output;           ///< the output of a batch job
    /// Suspending is only the signal: the site has no method of its own, and there is no notice before.
    bool shepherdSuspendsAlone = false;
};

/// `directory` is the shepherd's spool directory, <execd's>/active_jobs/<job>.<task> or, for a slave task,
/// <execd's>/active_jobs/<job>.<task>/<id>. If the user may have added lines to the configuration, the lowest value of each limit
/// counts. Error: InvalidArgument when the configuration does not say who or what the job is, or says it in two ways.
Result<GridEngineJob> readGridEngineJob(std::string_view directory, const GridEngineConfig& config);

/// The cores in the value of "binding", such as "explicit:0,0:0,1:SccCC". The topology at its end has the job's cores in lower
/// case.
std::vector<GridEngineCore> parseGridEngineBinding(std::string_view binding);

} // namespace pinfold
