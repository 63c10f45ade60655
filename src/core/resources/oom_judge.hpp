// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "os/kernel_log.hpp"

#include <functional>
#include <string_view>

namespace pinfold {

/// Detects out-of-memory kills in jobs. For each out-of-memory kill, OomJudge finds out whether only the job or the whole node
/// was out of memory. OomJudge immediately writes about the kill into the job's output and into the journal, and sends a signal
/// on the bus. OomJudge reads the kills from memory.events of the job's slice. The file memory.events counts the kills in all
/// tasks of the job. The field "oom" of memory.events counts only cases in which the job reached its own limits. If pinfoldd can
/// read the kernel's log, the log says which process was killed.
class OomJudge {
public:
    explicit OomJudge(Core& core) : core_(core) {}

    /// Checks at once whether the job has had an out-of-memory kill. watch() checks for a kill after each change of the slice's
    /// memory.events.
    void watch(const JobPtr& job);
    /// Checks at once whether an out-of-memory kill ends the whole job. If pinfoldd has not seen the kill before, and the
    /// kernel's log already names the killed process, endsJob() calls onWholeJob. If the kernel's log does not name the killed
    /// process yet, endsJob() returns true.
    bool endsJob(const JobPtr& job);
    /// Call conclude() at the end of the job. conclude() judges the kills by the facts that pinfoldd already has, and does not
    /// wait for the kernel's log.
    void conclude(const JobPtr& job);

    void reported(const OomReport& report);
    /// Call killedByOomd() when systemd-oomd has sent its signal about a kill. The argument `path` is the path of the killed
    /// cgroup, as /proc/PID/cgroup shows the path.
    void killedByOomd(std::string_view path);

    /// If the job's out-of-memory policy is OomPolicy::Job, OomJudge calls onWholeJob after an out-of-memory kill. The function
    /// onWholeJob ends all remaining processes of the job.
    std::function<void(const JobPtr&)> onWholeJob;

private:
    void look(const JobPtr& job, bool final);
    void decide(const JobPtr& job);
    void tell(const JobPtr& job);
    OomCause causeOf(const Job& job) const;

    Core& core_;
};

} // namespace pinfold
