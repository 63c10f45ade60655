// SPDX-License-Identifier: LGPL-2.1-or-later
// Takes care of jobs with processes that SIGKILL does not end. If SIGKILL does not end a process within the time
// `unkillable.after`, pinfoldd reports the process. After pinfoldd has reported a process, pinfoldd takes the action that the
// setting unkillable.action names. pinfoldd cannot end a process that hangs in the kernel, so pinfoldd waits until the job's
// cgroup is empty.
#pragma once

#include "base/clock.hpp"
#include "core/core.hpp"
#include "core/drain_state.hpp"
#include "core/history/live_rows.hpp"

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
    UnkillablePolicy(Core& core, DrainState& node, LiveRows& rows) : core_(core), node_(node), rows_(rows) {}

    /// Call watch() when pinfoldd has sent SIGKILL to all processes of the job. The time unkillable.after begins with the call of
    /// watch(). Before UnkillablePolicy reports the job, it sends SIGKILL once more. If a process joined the job after the first
    /// SIGKILL, the second SIGKILL ends the process.
    void watch(const JobPtr& job);
    /// Call over() when the last process of the job has ended.
    void over(Job& job);
    /// Updates the node's comment, which names the unkillable jobs. If the node has become drained, or is not drained any more,
    /// publish() informs the observer.
    void publish() const;

    /// Before UnkillablePolicy reports a job, it checks whether the job still has processes. If the job has no processes any
    /// more, UnkillablePolicy calls onEmpty, and does not report the job.
    std::function<void(const JobPtr&)> onEmpty;

private:
    void killAgain(const JobPtr& job, Microseconds last, RealTime killedAt);
    /// Calls report() after pinfoldd has sent the second SIGKILL to the job. If pinfoldd has to kill many tasks at the same time,
    /// the second SIGKILL for a job can come a minute late. reportAfter() never reports the job before the time `wait` has
    /// passed.
    void reportAfter(const JobPtr& job, const std::shared_ptr<const bool>& done, Microseconds wait, RealTime killedAt);
    void report(const JobPtr& job, RealTime killedAt);
    /// Calls report() for the job one second after the call of reportLater(). As long as the state of the processes cannot be
    /// read, pinfoldd takes no action against the job.
    void reportLater(const JobPtr& job, RealTime killedAt);
    /// Remembers the highest number of processes that outlived SIGKILL, because the job's receipt contains this number. LiveRows
    /// soon writes the number of processes to the history, because the node can go down before the job ends.
    void countProcesses(const JobPtr& job, std::size_t left);
    /// Takes the action that the setting unkillable.action names. If the remaining processes wait for a file server that a user
    /// runs, judge() takes no action. The argument `first` is true if neither this pinfoldd nor an earlier pinfoldd has taken an
    /// action for the job.
    void judge(Job& job, const std::vector<pid_t>& left, std::vector<ProcessInfo> named, bool first);
    void runScript(const Job& job, const std::vector<pid_t>& pids) const;

    Core& core_;
    DrainState& node_;
    LiveRows& rows_;
};

/// Lists the jobs that cannot be killed. The node's comment and the reason of a drain can contain this list.
struct UnkillableJobs {
    std::string words; ///< a text such as "job sge.1 cannot be killed since 2025-01-31T12:00:00Z, job …"
    std::size_t count = 0;
    RealTime since{}; ///< the time at which the first of the jobs became unkillable
};
std::optional<UnkillableJobs> unkillableJobs(const Registry& registry);

} // namespace pinfold
