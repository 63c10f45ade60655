// SPDX-License-Identifier: LGPL-2.1-or-later
// Processes of others into another cgroup. The kernel takes numbers for that, and a process's number is another's as soon as it
// has ended and its parent has seen it. So the pidfd tells, before and after, whose the number was; and who was moved by mistake
// goes back.
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

/// A process that somebody wants in a cgroup.
struct Newcomer {
    pid_t pid = 0;
    UniqueFd pidfd;
    bool isRoots = false; ///< by all its user ids: no ordinary user can end it, and have another one get its number
};

/// Seam. Threads call it, and hold it by a shared_ptr. All calls may block: a move waits for each fork and exit of the node that
/// has begun.
class ProcessMover {
public:
    virtual ~ProcessMover() = default;

    struct Outcome {
        Result<void> result;      ///< Errors: PidGone; Denied, it is in a job by now; Internal, the cgroup is not there, say
        std::string trouble = {}; ///< what became of another process that was moved in its place; empty: none was
    };
    /// `cgroup` as in /proc/PID/cgroup. `owner`: whose the cgroup's processes are, for putBack().
    virtual Outcome move(const Newcomer& process, const std::string& cgroup, const UserIds& owner) const = 0;
    /// For a number whose process has ended: who has it now and is in `cgroup` goes to where its parent is, since that is where a
    /// process begins. One of `owner`'s is killed instead, unless that is root: another place may be a way out of a job for
    /// it, and its user could end it himself. What was done, or could not be; empty: nothing had to be done.
    virtual std::string putBack(pid_t pid, const std::string& cgroup, const UserIds& owner) const = 0;
    /// After somebody was moved to `cgroup` by mistake, for what that one has forked there: putBack() for each process of a user
    /// other than `owner` that is none of `newcomers`, none of this process's own children, and no descendant of these. What was
    /// done, or could not be, a line each.
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
    /// Those at which a family of strangers begins: their parents are not in the cgroup.
    Result<std::vector<pid_t>> strangersIn(const CgroupDir& cgroup, const std::vector<Newcomer>& newcomers,
                                           const UserIds& owner) const;
    /// Where it has gone.
    Result<std::string> sendHome(const ProcessInfo& stranger) const;

    CgroupTree cgroups_;
    ProcessTable processes_;
};

} // namespace pinfold
