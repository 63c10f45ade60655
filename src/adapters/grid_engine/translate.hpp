// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads from what sge_execd tells sge_shepherd what a job is, and what the job may use. This is for Son of Grid Engine 8.1.9, and
// for versions that have the same shepherd_cmd and spool directory. Reference: sge_shepherd(8), sge_conf(5), and
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

/// Says where a job's standard error goes.
struct GridEngineOutput {
    std::string path; ///< empty if the standard error goes to no file
    std::string name; ///< the name of the file, if `path` is a directory
};

/// Is a core in Grid Engine's numbers, which begin with 0. Sockets are in the order of their lowest CPU, and so are the cores of
/// a socket.
struct GridEngineCore {
    unsigned socket = 0;
    unsigned core = 0;

    bool operator==(const GridEngineCore&) const = default;
};

/// Describes the job, or the task of it, that one shepherd has to run.
struct GridEngineJob {
    std::string key;   ///< sge.<job>, or sge.<job>.<task> for a task of an array
    std::string owner; ///< login name
    bool slaveTask = false;
    ResourceLimits limits;
    std::uint64_t slots = 1;           ///< slots on this host
    std::vector<GridEngineCore> cores; ///< the cores to which sge_execd has bound the job; may be empty
    GridEngineOutput output;           ///< the output of a batch job
    /// If true, to suspend the job the shepherd only sends the signal: the site has no own method, and the job gets no notice
    /// before.
    bool shepherdSuspendsAlone = false;
};

/// Reads a job. `directory` is the shepherd's spool directory, <execd's>/active_jobs/<job>.<task> or, for a slave task,
/// <execd's>/active_jobs/<job>.<task>/<id>. If the user may have added lines to the configuration, the lowest value of each limit
/// counts. Error: InvalidArgument if the configuration does not say which job this is and to whom it belongs, or says so in two
/// ways.
Result<GridEngineJob> readGridEngineJob(std::string_view directory, const GridEngineConfig& config);

/// Returns the cores in the value of "binding", such as "explicit:0,0:0,1:SccCC". The topology at its end has the job's cores in
/// lower case.
std::vector<GridEngineCore> parseGridEngineBinding(std::string_view binding);

} // namespace pinfold
