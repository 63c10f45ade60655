// SPDX-License-Identifier: LGPL-2.1-or-later
// Takes care of jobs with processes that SIGKILL does not end. When such processes have outlived SIGKILL for unkillable.after,
// pinfoldd names them, and takes the site's unkillable.action. The processes hang in the kernel, so pinfoldd can only report them
// and wait until their cgroup is empty.
#pragma once

#include "core/core.hpp"
#include "core/drain_state.hpp"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

class UnkillablePolicy {
public:
    UnkillablePolicy(Core& core, DrainState& node) : core_(core), node_(node) {}

    /// Call watch() when pinfoldd has sent SIGKILL to all processes of the job: the time begins then. Before the report,
    /// UnkillablePolicy sends SIGKILL once more, because a process may have come into the job after the first SIGKILL.
    void watch(const JobPtr& job);
    /// Call this when no process of the job is left.
    void over(Job& job);
    /// Updates the node's comment about unkillable jobs, and whether the node takes jobs.
    void publish() const;

    /// UnkillablePolicy calls onEmpty if a job turns out to be empty when its report is due.
    std::function<void(const JobPtr&)> onEmpty;

private:
    void killAgain(const JobPtr& job, std::uint64_t last, std::uint64_t killedAt);
    /// Reports the job when the second kill is done. A user with many tasks that SIGKILL does not end can delay that kill by a
    /// minute. The report comes after `wait` microseconds or later.
    void reportAfter(const JobPtr& job, const std::shared_ptr<const bool>& done, std::uint64_t wait, std::uint64_t killedAt);
    void report(const JobPtr& job, std::uint64_t killedAt);
    /// Looks again later, because pinfoldd does not judge processes that it could not look at.
    void reportLater(const JobPtr& job, std::uint64_t killedAt);
    /// Takes the site's action, unless the processes that are left wait for a file server that users run themselves. `first` is
    /// true if no pinfoldd has done this for the job before.
    void judge(Job& job, const std::vector<pid_t>& left, std::vector<ProcessInfo> named, bool first);
    void runScript(const Job& job, const std::vector<pid_t>& pids) const;

    Core& core_;
    DrainState& node_;
};

/// Lists the jobs that cannot be killed, for the node's comment and its drain.
struct UnkillableJobs {
    std::string words; ///< for example "job sge.1 cannot be killed since 2025-01-31T12:00:00Z, job …"
    std::size_t count = 0;
    std::uint64_t since = 0; ///< since when the first of the jobs cannot be killed (CLOCK_REALTIME, microseconds)
};
std::optional<UnkillableJobs> unkillableJobs(const Registry& registry);

} // namespace pinfold
