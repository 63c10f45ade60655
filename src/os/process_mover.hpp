// SPDX-License-Identifier: LGPL-2.1-or-later
// Moves other programs' processes into another cgroup. For a move the kernel takes a process's number. As soon as the process has
// ended and its parent has seen that, the number may belong to another process. So ProcessMover asks the pidfd, before and after
// the move, whether the process lives. ProcessMover puts back a process that it has moved by mistake.
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

/// Is a process that pinfoldd wants to move into a cgroup.
struct Newcomer {
    pid_t pid = 0;
    UniqueFd pidfd;
    bool isRoots = false; ///< all user ids of the process are root's, so no ordinary user can end it and give its number to
                          ///< another process
};

/// Moves processes. Tests replace this interface. Threads call it, and hold it by a shared_ptr. All calls may block, because a
/// move waits for each fork and exit of the node that has begun.
class ProcessMover {
public:
    virtual ~ProcessMover() = default;

    struct Outcome {
        /// Errors: PidGone; Denied if the process is in a job by now; Internal, for instance if the cgroup does not exist.
        Result<void> result;
        std::string trouble = {}; ///< says what became of another process that was moved by mistake; empty if there was no such
                                  ///< process
    };
    /// Moves the process to `cgroup`, which is a path as in /proc/PID/cgroup. `owner` is the owner of the cgroup's processes, and
    /// serves putBack().
    virtual Outcome move(const Newcomer& process, const std::string& cgroup, const UserIds& owner) const = 0;
    /// Call putBack() for the number of a process that has ended. If another process has the number now, and is in `cgroup`,
    /// putBack() moves it to the cgroup of its parent, because every process begins in the cgroup of its parent. If the other
    /// process belongs to `owner`, and `owner` is not root, putBack() kills it: in another cgroup it might escape from a job, and
    /// its user could end it anyway. Returns what putBack() did or could not do, or an empty text if there was nothing to do.
    virtual std::string putBack(pid_t pid, const std::string& cgroup, const UserIds& owner) const = 0;
    /// Call clear() after a process was moved to `cgroup` by mistake, because the process may have forked there. clear() calls
    /// putBack() for each process of a user other than `owner`, except for `newcomers`, for children of pinfoldd, and for
    /// descendants of these. Returns one line for each thing that clear() did or could not do.
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
    /// Returns the strangers (processes that do not belong to the job) whose parents are not in the cgroup. The other strangers
    /// descend from these.
    Result<std::vector<pid_t>> strangersIn(const CgroupDir& cgroup, const std::vector<Newcomer>& newcomers,
                                           const UserIds& owner) const;
    /// Moves the stranger to its parent's cgroup, and returns the path of that cgroup.
    Result<std::string> sendHome(const ProcessInfo& stranger) const;

    CgroupTree cgroups_;
    ProcessTable processes_;
};

} // namespace pinfold
