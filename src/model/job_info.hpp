// SPDX-License-Identifier: LGPL-2.1-or-later
// Describes what pinfoldd tells its clients about live jobs and about the processes of live jobs.
#pragma once

#include "base/clock.hpp"
#include "model/job_state.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace pinfold {

struct JobInfo {
    std::string key;
    std::string object; ///< the path of the job's object on the bus
    /// The state of the job. The state is unset if a newer pinfoldd has sent a state that this program does not know.
    std::optional<ShownState> state;
    uid_t uid = 0;
    std::string slice;
    std::string unit;                    ///< the name of task 0's scope; the scope exists only if the job has a batch script
    std::optional<std::uint32_t> leader; ///< the process id of the leader; unset if the job has no batch script
    RealTime created{};                  ///< the time at which the job was created
    std::uint32_t tasks = 0;
    /// The time of a SIGKILL that did not end all processes of the job. unkillableSince is unset if the job can be killed.
    std::optional<RealTime> unkillableSince = {};
    bool unkillableInFuse = false; ///< the unkillable process waits for a file server that users run themselves
    /// The highest sum of anonymous and shared memory that pinfoldd has seen so far, in bytes. memoryNeed is unset until pinfoldd
    /// has read figures of the job.
    std::optional<std::uint64_t> memoryNeed = {};

    bool operator==(const JobInfo&) const = default;
};

/// Returns the scope of the job's batch script, or nullopt if the job has no batch script.
inline std::optional<std::string> batchScope(const JobInfo& job) { return job.leader ? std::optional(job.unit) : std::nullopt; }

struct JobProcess {
    std::uint32_t pid = 0;
    std::uint32_t task = 0;
    uid_t uid = 0;
    RealTime started{};    ///< the time at which the process started
    Microseconds cpu{};    ///< the CPU time that the process has used
    std::uint64_t rss = 0; ///< the resident memory of the process, in bytes
    std::string state;     ///< the letter of the process's state, as in /proc/PID/stat
    /// The kernel function in which a process of an unkillable job hangs. waitPoint is unset if the job is not unkillable, or if
    /// the kernel does not show the function.
    std::optional<std::string> waitPoint;
    std::string command;

    bool operator==(const JobProcess&) const = default;
};

/// Calls f(name, member) for each member. On D-Bus, the member has the name `name`.
template <class P, class F> void forEachProcessField(P& process, F&& f) {
    f("pid", process.pid);
    f("task", process.task);
    f("uid", process.uid);
    f("started", process.started);
    f("cpu", process.cpu);
    f("rss", process.rss);
    f("state", process.state);
    f("wait_point", process.waitPoint);
    f("command", process.command);
}

} // namespace pinfold
