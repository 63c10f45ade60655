// SPDX-License-Identifier: LGPL-2.1-or-later
// Moves the processes of users and batch systems from one cgroup to another. To move a process, ProcessMover writes the process
// id to a file of the cgroup. The kernel accepts process ids in the file cgroup.procs, but not pidfds. When a process has ended
// and its parent has reaped it, the kernel can give the process id to another process. Before and after the move, ProcessMover
// uses the pidfd to check whether the process still lives. ProcessMover puts back a process that it has moved by mistake.
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

/// Describes a process that pinfoldd wants to move into a cgroup.
struct Newcomer {
    pid_t pid = 0;
    UniqueFd pidfd;
    /// If isRoots is true, all user ids of the process are root's. Ordinary users cannot end a process of root, and so they
    /// cannot free the process id for a different process.
    bool isRoots = false;
};

/// Moves processes. The unit tests have their own class that implements ProcessMover. Several threads share one ProcessMover, so
/// each thread holds a shared_ptr to the ProcessMover. All calls of ProcessMover can block. The kernel waits for all running
/// forks and exits on the node before it moves a process.
class ProcessMover {
public:
    virtual ~ProcessMover() = default;

    struct Outcome {
        /// The error is PidGone if the process has ended, and Denied if another request has moved the process into a job. All
        /// errors except PidGone and Denied are Internal. The error is Internal, for example, if the cgroup does not exist.
        Result<void> result;
        /// Describes what happened to a process that ProcessMover moved by mistake. If ProcessMover made no mistake, `trouble` is
        /// empty.
        std::string trouble = {};
    };
    /// Moves the process to `cgroup`. `cgroup` has the form of a path in /proc/PID/cgroup. `owner` is the owner of the cgroup's
    /// processes. move() uses `owner` only to call putBack().
    virtual Outcome move(const Newcomer& process, const std::string& cgroup, const UserIds& owner) const = 0;
    /// Moves the process `pid`, which does not belong to the job, from `cgroup` to the cgroup of the process's parent. If a
    /// process ends during move(), a new process can get the number `pid`, and move() can move the new process by mistake. Every
    /// process begins in the cgroup of its parent. If the process `pid` belongs to `owner`, and `owner` is not root, putBack()
    /// kills the process and does not move it. Killing the process gives `owner` no new power, because the kernel lets `owner`
    /// kill the process directly. If putBack() moved a process of `owner`, the process could escape from a job. Returns a text
    /// that says what putBack() did, or why putBack() failed. Returns an empty text if putBack() found no process to move or to
    /// kill.
    virtual std::string putBack(pid_t pid, const std::string& cgroup, const UserIds& owner) const = 0;
    /// Call clear() after a process was moved to `cgroup` by mistake, because the process could have forked children in
    /// `cgroup`. The function clear() calls putBack() for each process of a user other than `owner`. If a process is in
    /// `newcomers` or is a child of pinfoldd, clear() neither moves nor kills the process or its descendants. Returns one line
    /// for each action of clear() and for each failure.
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
    /// Returns the strangers (processes that do not belong to the job) whose parents are not in the cgroup. If the parent of a
    /// stranger is in the cgroup, strangersIn() returns the stranger's ancestor and not the stranger.
    Result<std::vector<pid_t>> strangersIn(const CgroupDir& cgroup, const std::vector<Newcomer>& newcomers,
                                           const UserIds& owner) const;
    /// Moves the stranger to the cgroup of the stranger's parent. If the move fails or the parent is gone, sendHome() moves the
    /// stranger to kLastResort. Returns the path of the new cgroup.
    Result<std::string> sendHome(const ProcessInfo& stranger) const;

    CgroupTree cgroups_;
    ProcessTable processes_;
};

} // namespace pinfold
