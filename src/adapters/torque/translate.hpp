// SPDX-License-Identifier: LGPL-2.1-or-later
// Torque: translates what pbs_mom tells its scripts and its job starter into requests for pinfoldd. No I/O. Job ids, user names
// and what only pbs_mom writes can be trusted. Users can influence resource lists and a task's environment.
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

/// pbs_mom puts a job back into its queue after any exit status of a prologue except 0 and 1; 1 deletes the job. An interactive
/// job is deleted after any exit status except 0.
constexpr int kRequeue = 2;

using Environment = std::map<std::string, std::string, std::less<>>;
using Words = std::vector<std::string>;

/// "4711.server", "12[3].server" → "torque.4711.server". The key has the server's name, because two servers may use the same
/// number on one node. Error: InvalidArgument.
Result<std::string> jobKey(std::string_view jobId);

/// The processors of a job, by the environment that Torque gives a prologue.
struct Processors {
    std::uint64_t here = 1;  ///< on this host
    std::uint64_t whole = 1; ///< of the whole job, on all hosts
    bool sure = false;       ///< `here` is exact, and not an estimate for the job's weight
};

/// `nodeFile`: the text of $PBS_NODEFILE; empty on sister hosts, which have no such file.
Processors processors(const Environment& environment, std::string_view resources, std::string_view nodeFile);

/// The bytes of memory that the resource list ("mem=4gb,nodes=2:ppn=4,…") allows the job on this host; nullopt: it says nothing.
/// This is never less than the host's part: if that part is not known for sure, it is the memory of the whole job.
std::optional<std::uint64_t> memoryHere(std::string_view resources, const Processors& processors);

/// The arguments with which prologue and prologue.parallel have pinfold open the job. Error: InvalidArgument.
Result<Words> openArguments(const Words& argv, const Environment& environment, std::string_view nodeFile);
/// The arguments with which epilogue and epilogue.parallel have pinfold end the job. Error: InvalidArgument.
Result<Words> endArguments(const Words& argv, const Environment& environment);

/// What the process of the job starter becomes. Batch means "the batch script, unless the job has one already".
struct Task {
    std::string key;
    WrapperRole role = WrapperRole::Task;
};
/// The task that the job starter's process becomes. Error: InvalidArgument.
Result<Task> startedTask(const Environment& environment);

/// The name with which a login shell is called: "/bin/bash" → "-bash". pbs_mom itself does this, but not for a job starter.
std::string loginName(std::string_view shell);

/// The user to whom a job belongs, by pbs_mom's own file about the job.
struct Identity {
    std::string jobId;
    uid_t uid = 0;
    gid_t gid = 0;
};
/// True: the text has 32 hexadecimal digits.
bool isCookie(std::string_view text);
/// `jobFile`: mom_priv/jobs/*.JB of Torque 5 and later. nullopt: the job does not have this cookie, or does not run, or the file
/// is not one that pbs_mom writes.
std::optional<Identity> identity(std::string_view jobFile, std::string_view cookie);

} // namespace pinfold::torque
