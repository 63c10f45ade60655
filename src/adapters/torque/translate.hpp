// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes requests for pinfoldd from the arguments and the environment that pbs_mom gives its scripts and its job starter. The
// functions of torque/translate.hpp do no I/O. The functions trust job ids and user names, because only pbs_mom writes ids and
// names. The functions trust neither a job's resource list nor a task's environment, because users can change the list and the
// environment.
#pragma once

#include "base/result.hpp"
#include "model/wrapper_protocol.hpp"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold::torque {

/// If a prologue exits with a status other than 0 and 1, pbs_mom puts the job back into the queue. If a prologue exits with
/// status 1, pbs_mom deletes the job. If a prologue of an interactive job exits with any status except 0, pbs_mom deletes the
/// job.
constexpr int kRequeue = 2;

using Environment = std::map<std::string, std::string, std::less<>>;
using Words = std::vector<std::string>;

/// Returns the key of a job, such as "torque.4711.server" for "4711.server". An id of an array task looks like "12[3].server".
/// The key of a job contains the server's name, because two Torque servers can give the same number to two jobs on one node.
/// Error: InvalidArgument.
Result<std::string> jobKey(std::string_view jobId);

/// Holds the number of a job's processors. pinfold counts the processors in the environment that Torque gives a prologue.
struct Processors {
    std::uint64_t here = 1;  ///< the number of the job's processors on this host
    std::uint64_t whole = 1; ///< the number of the job's processors on all hosts
    bool sure = false;       ///< false if the member `here` is only an estimate; memoryHere() ignores an estimate
};

/// Counts the processors of a job. `nodeFile` is the text of the file $PBS_NODEFILE. On sister hosts, which do not have the
/// file $PBS_NODEFILE, `nodeFile` is empty.
Processors processors(const Environment& environment, std::string_view resources, std::string_view nodeFile);

/// Returns the memory limit of the job on this host, in bytes, from a resource list such as "mem=4gb,nodes=2:ppn=4". Returns
/// nullopt if the resource list has no limit for memory. If this host's part of the job's memory is not certain, memoryHere()
/// returns the memory of the whole job.
std::optional<std::uint64_t> memoryHere(std::string_view resources, const Processors& processors);

/// Returns the walltime of the job in seconds. Returns nullopt if the resource list has no valid walltime.
std::optional<std::uint64_t> walltime(std::string_view resources);

/// To open the job, prologue and prologue.parallel run pinfold with the arguments that openArguments() returns. Error:
/// InvalidArgument.
Result<Words> openArguments(const Words& argv, const Environment& environment, std::string_view nodeFile);
/// To end the job, epilogue and epilogue.parallel run pinfold with the arguments that endArguments() returns. Error:
/// InvalidArgument.
Result<Words> endArguments(const Words& argv, const Environment& environment);

/// Says which job the process of the job starter joins, and which role the process has in the job. If the role is Batch and the
/// job has no batch script yet, the process becomes the batch script. If the job already has a batch script, the process becomes
/// a further task.
struct Task {
    std::string key;
    WrapperRole role = WrapperRole::Task;
};
/// Returns the job that the process of the job starter joins, and the role of the process in the job. Error: InvalidArgument.
Result<Task> startedTask(const Environment& environment);

/// Returns the name under which a program has to start a login shell, such as "-bash" for "/bin/bash". Without a job starter,
/// pbs_mom itself starts login shells under a name such as "-bash".
std::string loginName(std::string_view shell);

/// Describes the user who owns a job, according to pbs_mom's own file about the job.
struct Identity {
    std::string jobId;
    uid_t uid = 0;
    gid_t gid = 0;
};
/// Returns true if the text has 32 hexadecimal digits.
bool isCookie(std::string_view text);
/// Returns the user of the job with the given cookie. `jobFile` is the text of a file mom_priv/jobs/*.JB of Torque 5 or later.
/// Returns nullopt if the job has another cookie, if the job does not run, or if the file does not have pbs_mom's format.
std::optional<Identity> identity(std::string_view jobFile, std::string_view cookie);

} // namespace pinfold::torque
