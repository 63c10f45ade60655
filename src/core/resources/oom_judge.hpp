// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "os/kernel_log.hpp"

#include <functional>
#include <string_view>

namespace pinfold {

/// Finds out that processes of a job were killed because memory ran out, and whose memory (the job's or the node's). Reports that
/// at once in the job's own output, in the journal and by a signal on the bus. The source is memory.events of the slice, which
/// counts for all tasks and counts "oom" only for the job's own limits. The kernel's log names the victim, if the log can be
/// read.
class OomJudge {
public:
    explicit OomJudge(Core& core) : core_(core) {}

    /// Looks at the job whenever memory.events changes, and once now.
    void watch(const JobPtr& job);
    /// Call this at the job's end. It decides by what is known by now.
    void conclude(const JobPtr& job);

    void reported(const OomReport& report);
    /// Call this on systemd-oomd's signal. `path`: a cgroup, as in /proc/PID/cgroup.
    void killedByOomd(std::string_view path);

    /// Called for a job whose policy is that all of it ends when one process was killed. It is for what the kernel left, for
    /// instance further tasks.
    std::function<void(const JobPtr&)> onWholeJob;

private:
    void look(const JobPtr& job, bool final);
    void decide(const JobPtr& job);
    void tell(const JobPtr& job);
    OomCause causeOf(const Job& job) const;

    Core& core_;
};

} // namespace pinfold
