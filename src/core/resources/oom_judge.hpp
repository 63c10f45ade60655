// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "os/kernel_log.hpp"

#include <functional>
#include <string_view>

namespace pinfold {

/// Finds out that the kernel killed processes of a job because memory ran out, and whether that was the job's memory or the
/// node's. OomJudge reports this at once in the job's own output, in the journal and by a signal on the bus. The source is
/// memory.events of the slice: it counts the kills in all tasks, and counts "oom" only for the job's own limits. The kernel's log
/// names the victim, if the log can be read.
class OomJudge {
public:
    explicit OomJudge(Core& core) : core_(core) {}

    /// Looks at the job now, and again whenever memory.events of its slice changes.
    void watch(const JobPtr& job);
    /// Call conclude() at the job's end. conclude() decides by what pinfoldd knows by then.
    void conclude(const JobPtr& job);

    void reported(const OomReport& report);
    /// Call this on systemd-oomd's signal. `path` is the killed cgroup as it stands in /proc/PID/cgroup.
    void killedByOomd(std::string_view path);

    /// OomJudge calls onWholeJob after a kill, if the job's policy says that the whole job ends when one process was killed. The
    /// function then ends what the kernel left, for instance further tasks.
    std::function<void(const JobPtr&)> onWholeJob;

private:
    void look(const JobPtr& job, bool final);
    void decide(const JobPtr& job);
    void tell(const JobPtr& job);
    OomCause causeOf(const Job& job) const;

    Core& core_;
};

} // namespace pinfold
