// SPDX-License-Identifier: LGPL-2.1-or-later
// Jobs with processes that SIGKILL doesn't end: named once they have outlived it for unkillable.after, and then the site's
// unkillable.action. They hang in the kernel, and all that can be done is to say so and to wait for their cgroup to run empty.
#pragma once

#include "core/core.hpp"
#include "core/node_state.hpp"

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
    UnkillablePolicy(Core& core, NodeState& node) : core_(core), node_(node) {}

    /// From now, when SIGKILL has been sent to all of the job. It is sent once more in between: a process may have come into the
    /// job after the first one.
    void watch(const JobPtr& job);
    /// Nothing of the job is left.
    void over(Job& job);
    /// Brings the node's comment up to what is so, and whether it takes jobs.
    void publish() const;

    /// For a job that is seen to be empty when it should be reported.
    std::function<void(const JobPtr&)> onEmpty;

private:
    void killAgain(const JobPtr& job, std::uint64_t last, std::uint64_t killedAt);
    /// When the second kill is done: a user with many tasks that SIGKILL doesn't end can have it wait for a minute. `wait`: at
    /// least.
    void reportAfter(const JobPtr& job, const std::shared_ptr<const bool>& done, std::uint64_t wait, std::uint64_t killedAt);
    void report(const JobPtr& job, std::uint64_t killedAt);
    /// Nothing is judged of processes that nobody could look at.
    void reportLater(const JobPtr& job, std::uint64_t killedAt);
    /// Takes the action, unless what is left waits for a file server that users run themselves. `first`: not done before a
    /// restart.
    void judge(Job& job, const std::vector<pid_t>& left, std::vector<ProcessInfo> named, bool first);
    void runScript(const Job& job, const std::vector<pid_t>& pids) const;

    Core& core_;
    NodeState& node_;
};

/// The jobs that can't be killed.
struct UnkillableJobs {
    std::string words;       ///< "job sge.1 can't be killed since 2025-01-31T12:00:00Z, job …"
    std::uint64_t since = 0; ///< of the first, CLOCK_REALTIME, microseconds
};
std::optional<UnkillableJobs> unkillableJobs(const Registry& registry);

} // namespace pinfold
