// SPDX-License-Identifier: LGPL-2.1-or-later
// Torque: what pbs_mom tells its scripts and its job starter, and what that asks of pinfoldd. No I/O. Job ids, user names and
// what only pbs_mom writes can be trusted; resource lists and a task's environment have passed through a user's hands.
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

/// pbs_mom puts a job back into its queue after any exit status of a prologue but 0 and 1; 1 deletes the job. An interactive job
/// is deleted after any but 0.
constexpr int kRequeue = 2;

using Environment = std::map<std::string, std::string, std::less<>>;
using Words = std::vector<std::string>;

/// "4711.server", "12[3].server" → "torque.4711.server". With the server's name: two servers may count alike on one node.
/// Error: InvalidArgument.
Result<std::string> jobKey(std::string_view jobId);

/// The processors of a job, from Torque's own environment of a prologue.
struct Processors {
    std::uint64_t here = 1;  ///< on this host
    std::uint64_t whole = 1; ///< of the whole job
    bool sure = false;       ///< `here` is exact, not an estimate for the job's weight
};

/// `nodeFile`: what is in $PBS_NODEFILE, empty where there is none: on sister hosts.
Processors processors(const Environment& environment, std::string_view resources, std::string_view nodeFile);

/// What the resource list ("mem=4gb,nodes=2:ppn=4,…") allows the job on this host, in bytes; nullopt: it says nothing. Never less
/// than the host's part: where that is not known for sure it is the whole job's.
std::optional<std::uint64_t> memoryHere(std::string_view resources, const Processors& processors);

/// For prologue and prologue.parallel: pinfold's arguments that open the job. Error: InvalidArgument.
Result<Words> openArguments(const Words& argv, const Environment& environment, std::string_view nodeFile);
/// For epilogue and epilogue.parallel: pinfold's arguments that end it. Error: InvalidArgument.
Result<Words> endArguments(const Words& argv, const Environment& environment);

/// For the job starter: what the process at hand is to be. Batch stands for "the batch script, unless the job has one already".
struct Task {
    std::string key;
    WrapperRole role = WrapperRole::Task;
};
/// Error: InvalidArgument.
Result<Task> startedTask(const Environment& environment);

/// How a login shell is called, "/bin/bash" → "-bash": so pbs_mom does it by itself, and forgets it for a job starter.
std::string loginName(std::string_view shell);

/// Whose job it is, by pbs_mom's own file on it.
struct Identity {
    std::string jobId;
    uid_t uid = 0;
    gid_t gid = 0;
};
/// 32 hexadecimal digits.
bool isCookie(std::string_view text);
/// `jobFile`: mom_priv/jobs/*.JB of Torque 5 and later. nullopt: it is not the job with this cookie, or not one that runs, or
/// the file is not what pbs_mom writes.
std::optional<Identity> identity(std::string_view jobFile, std::string_view cookie);

} // namespace pinfold::torque
