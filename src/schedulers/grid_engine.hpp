// SPDX-License-Identifier: LGPL-2.1-or-later
// Grid Engine: Son of Grid Engine 8.1.9, and those that share its shepherd_cmd and spool directory. What a job is and may use,
// from what sge_execd tells sge_shepherd. Reference: sge_shepherd(8), sge_conf(5), and daemons/shepherd/setrlimits.c of 8.1.9.
#pragma once

#include "base/result.hpp"
#include "model/resource_limits.hpp"
#include "schedulers/grid_engine_config.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Where a job's standard error goes.
struct GridEngineOutput {
    std::string path; ///< empty: to no file
    std::string name; ///< the file's, where `path` is a directory
};

/// A core as Grid Engine counts: sockets by their lowest CPU, cores within their socket likewise, both from 0.
struct GridEngineCore {
    unsigned socket = 0;
    unsigned core = 0;

    bool operator==(const GridEngineCore&) const = default;
};

/// What one shepherd has to do.
struct GridEngineJob {
    std::string key;   ///< sge.<job>, or of an array sge.<job>.<task>
    std::string owner; ///< login name
    bool slaveTask = false;
    ResourceLimits limits;
    std::uint64_t slots = 1;            ///< on this host
    std::vector<GridEngineCore> cores;  ///< that sge_execd has bound it to; empty: to none
    GridEngineOutput output;            ///< of a batch job
    bool shepherdSuspendsAlone = false; ///< a suspend is the signal and nothing else: no method of the site's, no notice before
};

/// `directory` is the shepherd's spool directory, <execd's>/active_jobs/<job>.<task> or, of a slave task,
/// <execd's>/active_jobs/<job>.<task>/<id>. Where the user may have added lines of their own to the configuration, limits are
/// the lowest of all. Error: InvalidArgument when it doesn't say who or what the job is, or says it in two ways.
Result<GridEngineJob> readGridEngineJob(std::string_view directory, const GridEngineConfig& config);

/// From config's "binding", "explicit:0,0:0,1:SccCC": the topology at its end has the job's cores in lower case.
std::vector<GridEngineCore> parseGridEngineBinding(std::string_view binding);

} // namespace pinfold
