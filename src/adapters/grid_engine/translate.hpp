// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the identity and the limits of a job from the data that sge_execd gives to sge_shepherd. The code supports Son of Grid
// Engine 8.1.9, and all versions whose shepherd_cmd and spool directory are as in 8.1.9. Reference: sge_shepherd(8), sge_conf(5),
// and daemons/shepherd/setrlimits.c of 8.1.9.
#pragma once

#include "adapters/grid_engine/spool_config.hpp"
#include "base/result.hpp"
#include "model/job_identity.hpp"
#include "model/resource_limits.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Names the file for a job's standard error.
struct GridEngineOutput {
    std::string path; ///< `path` is empty if the job has no file for its standard error
    std::string name; ///< if `path` is a directory, the name of the file in this directory
};

/// Names a core by Grid Engine's numbers, which begin with 0. Grid Engine sorts the CPU sockets by the lowest CPU of each socket,
/// and then numbers the sockets. Within a socket, Grid Engine sorts the cores by the lowest CPU of each core, and then numbers
/// the cores.
struct GridEngineCore {
    unsigned socket = 0;
    unsigned core = 0;

    bool operator==(const GridEngineCore&) const = default;
};

/// Describes the job or the array task that one shepherd has to run.
struct GridEngineJob {
    std::string key;   ///< the key: sge.<job>, or sge.<job>.<task> for a task of an array
    std::string owner; ///< the login name of the job's owner
    bool slaveTask = false;
    ResourceLimits limits;
    JobIdentity identity;
    std::uint64_t slots = 1;           ///< the number of the job's slots on this host
    std::vector<GridEngineCore> cores; ///< the cores to which sge_execd has bound the job; the list can be empty
    GridEngineOutput output;           ///< the file for the standard error of a batch job
    /// If shepherdSuspendsAlone is true, the shepherd suspends the job with a single signal. shepherdSuspendsAlone is false in
    /// two cases: the site has its own suspend method, or Grid Engine sends a warning signal before the suspension.
    bool shepherdSuspendsAlone = false;
};

/// Reads a job. `directory` is the shepherd's spool directory, <spool directory of sge_execd>/active_jobs/<job>.<task>. For a
/// slave task, the path of the spool directory ends with <job>.<task>/<id>. readGridEngineJob() uses the lowest value of each
/// limit, because a user can add lines to the configuration. The error is InvalidArgument if `config` lacks the job's id or
/// owner, or names two different ids or owners.
Result<GridEngineJob> readGridEngineJob(std::string_view directory, const GridEngineConfig& config);

/// Adds the submit host, the submit directory and the nodes to the identity of a job. The parameter `environment` contains the
/// variables from the spool file with the same name. The user's own qsub has written the variables SGE_O_HOST and SGE_O_WORKDIR.
/// `hostFile` is the text of the spool file `pe_hostfile`, which sge_execd has written.
void addFromSpool(JobIdentity& identity, const GridEngineConfig& environment, std::string_view hostFile);

/// Returns the run time after which Grid Engine ends the job, in microseconds. Returns nullopt if the job's environment does not
/// contain the run time. sge_execd does not write h_rt into the spool directory. A job submission verifier (JSV) of the site has
/// to copy h_rt into the variable PINFOLD_BATCH_RUN_TIME_MAX. A user can set PINFOLD_BATCH_RUN_TIME_MAX to any value. A wrong
/// value ends no job, because pinfoldd uses the variable only to warn jobs.
std::optional<std::uint64_t> gridEngineRunTimeMax(const GridEngineConfig& environment);

/// Returns the cores in the value of "binding", such as "explicit:0,0:0,1:SccCC". The value of "binding" ends with the topology
/// of the node. In the topology, each 'c' in lower case is a core of the job.
std::vector<GridEngineCore> parseGridEngineBinding(std::string_view binding);

} // namespace pinfold
