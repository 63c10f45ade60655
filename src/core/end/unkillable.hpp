// SPDX-License-Identifier: LGPL-2.1-or-later
// Jobs with processes that SIGKILL does not end. When such processes have outlived SIGKILL for unkillable.after, pinfoldd names
// them, and takes the site's unkillable.action. They hang in the kernel, so pinfoldd can only say so and wait for their cgroup to
// run empty.
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

    /// Call this when SIGKILL has been sent to all of the job: the time begins now. SIGKILL is sent once more in between, because
    /// a process may have come into the job after the first one.
    void watch(const JobPtr& job);
    /// Call this when nothing of the job is left.
    void over(Job& job);
    /// Updates the node's comment, and whether the node takes jobs.
    void publish() const;

    /// Called for a job that turns out to be empty when it should be reported.
    std::function<void(const JobPtr&)> onEmpty;

private:
    void killAgain(const JobPtr& job, std::uint64_t last, std::uint64_t killedAt);
    /// Reports the job when the second kill is done. A user with many tasks that SIGKILL does not end can delay that kill by a
    /// minute. `wait`: the least time until the report.
    void reportAfter(const JobPtr& job, const std::shared_ptr<const bool>& done, std::uint64_t wait, std::uint64_t killedAt);
    void report(const JobPtr& job, std::uint64_t killedAt);
    /// Looks again later: pinfoldd does not judge processes that it could not look at.
    void reportLater(const JobPtr& job, std::uint64_t killedAt);
    /// Takes the action, unless what is left waits for a file server that users run themselves. `first`: no pinfoldd has done
    /// this for the job before.
    void judge(Job& job, const std::vector<pid_t>& left, std::vector<ProcessInfo> named, bool first);
    void runScript(const Job& job, const std::vector<pid_t>& pids) const;

    Core& core_;
    DrainState& node_;
};

/// The jobs that cannot be killed, for the node's comment and its drain.
struct UnkillableJobs {
    std::string words;       ///< "job sge.1 cannot be killed since 2025-01-31T12:00:00Z, job …"
    std::uint64_t since = 0; ///< since when the first of them cannot be killed: CLOCK_REALTIME, microseconds
};
std::optional<UnkillableJobs> unkillableJobs(const Registry& registry);

} // namespace pinfold
