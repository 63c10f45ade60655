// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/context.hpp"

#include <sys/types.h>

#include <functional>
#include <string>

namespace pinfold {

/// Sends SIGKILL to all processes of a cgroup. A process cannot escape SIGKILL, not even by a fork.
class Killer {
public:
    explicit Killer(CoreContext& context) : context_(context) {}

    /// Kills the processes of the cgroup with the path `cgroup`, and of all cgroups below that cgroup. kill() ends most processes
    /// soon, but can miss a process whose first thread has ended (ProcessKiller::killEach). When the timer `look` expires,
    /// ProcessKiller ends the processes that still live. If the cgroup does not exist any more, kill() returns no error. Error:
    /// Internal.
    Result<void> kill(const std::string& cgroup, EventHandle& look);
    /// Kills the processes that have outlived an earlier SIGKILL of the job. The function killStubborn() does the same as kill(),
    /// but without a timer. If a process of the owner traces the job's processes from outside of the job, killStubborn() kills
    /// the tracing process (ProcessKiller::killTracers). The journal names each tracing process that killStubborn() has killed.
    /// killStubborn() sometimes has to wait until pinfoldd has killed the processes of other jobs. When killStubborn() has killed
    /// the processes, killStubborn() calls `then`. If too many calls of killStubborn() wait already, a new call returns false and
    /// never calls `then`.
    bool killStubborn(const JobKey& key, uid_t owner, std::function<void()> then) const;

private:
    CoreContext& context_;
};

} // namespace pinfold
