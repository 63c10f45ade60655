// SPDX-License-Identifier: LGPL-2.1-or-later
// Moves processes of others into another cgroup. The kernel takes numbers for that, and a process's number may belong to another
// process as soon as the process has ended and its parent has seen that. So the pidfd tells, before and after, whose the number
// was. A process that was moved by mistake goes back.
#pragma once

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "model/subordinate_ids.hpp"
#include "os/cgroup.hpp"
#include "os/process.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pinfold {

/// A process that is to be moved into a cgroup.
struct Newcomer {
    pid_t pid = 0;
    UniqueFd pidfd;
    bool isRoots = false; ///< all its user ids are root's: no ordinary user can end it, and have another process get its number
};

/// An interface that tests replace. Threads call it, and hold it by a shared_ptr. All calls may block, because a move waits for
/// each fork and exit of the node that has begun.
class ProcessMover {
public:
    virtual ~ProcessMover() = default;

    struct Outcome {
        /// Errors: PidGone; Denied: it is in a job by now; Internal: for instance, the cgroup does not exist.
        Result<void> result;
        std::string trouble = {}; ///< what became of another process that was moved in its place; empty: none was moved
    };
    /// Moves the process. `cgroup`: as in /proc/PID/cgroup. `owner`: the owner of the cgroup's processes, for putBack().
    virtual Outcome move(const Newcomer& process, const std::string& cgroup, const UserIds& owner) const = 0;
    /// Call this for a number whose process has ended. The process that has the number now, if it is in `cgroup`, goes to its
    /// parent's cgroup, since that is where a process begins. A process of `owner` is killed instead, unless the owner is root:
    /// another place may be a way out of a job for it, and its user could end it anyway. Returns what was done, or could not be
    /// done; empty: nothing had to be done.
    virtual std::string putBack(pid_t pid, const std::string& cgroup, const UserIds& owner) const = 0;
    /// Call this after a process was moved to `cgroup` by mistake, because it may have forked there. Calls putBack() for each
    /// process of a user other than `owner` that is neither one of `newcomers`, nor one of this process's own children, nor a
    /// descendant of these. Returns what was done, or could not be done, in a line each.
    virtual std::vector<std::string> clear(const std::string& cgroup, const std::vector<Newcomer>& newcomers,
                                           const UserIds& owner) const = 0;
};

class KernelProcessMover : public ProcessMover {
public:
    KernelProcessMover(CgroupTree cgroups, ProcessTable processes)
        : cgroups_(std::move(cgroups)), processes_(std::move(processes)) {}

    Outcome move(const Newcomer& process, const std::string& cgroup, const UserIds& owner) const override;
    std::string putBack(pid_t pid, const std::string& cgroup, const UserIds& owner) const override;
    std::vector<std::string> clear(const std::string& cgroup, const std::vector<Newcomer>& newcomers,
                                   const UserIds& owner) const override;

private:
    /// The strangers whose parents are not in the cgroup. A family of strangers begins at each of them.
    Result<std::vector<pid_t>> strangersIn(const CgroupDir& cgroup, const std::vector<Newcomer>& newcomers,
                                           const UserIds& owner) const;
    /// Moves the stranger, and returns to which cgroup.
    Result<std::string> sendHome(const ProcessInfo& stranger) const;

    CgroupTree cgroups_;
    ProcessTable processes_;
};

} // namespace pinfold
