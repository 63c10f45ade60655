// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "os/kernel_log.hpp"

#include <functional>
#include <string_view>

namespace pinfold {

/// Finds out that processes of a job were killed because memory ran out, and whose, and tells: at once in the job's own
/// output, in the journal, by a signal. By memory.events of the slice, which counts for all tasks and says "oom" only for limits
/// of the job's own; the kernel's log has the victim, where it can be read.
class OomJudge {
public:
    explicit OomJudge(Core& core) : core_(core) {}

    /// Looks at the job whenever memory.events changes, and once now.
    void watch(const JobPtr& job);
    /// For the job's end: whatever is known by now counts.
    void conclude(const JobPtr& job);

    void reported(const OomReport& report);
    /// systemd-oomd's signal. `path` as in /proc/PID/cgroup.
    void killedByOomd(std::string_view path);

    /// A job whose policy is that all of it goes with one: for what the kernel left, further tasks for instance.
    std::function<void(const JobPtr&)> onWholeJob;

private:
    void look(const JobPtr& job, bool final);
    void decide(const JobPtr& job);
    void tell(const JobPtr& job);
    OomCause causeOf(const Job& job) const;

    Core& core_;
};

} // namespace pinfold
