// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/subordinate_ids.hpp"
#include "os/cgroup.hpp"
#include "os/process.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// Seam. A thread calls it, and holds it by a shared_ptr.
class ProcessKiller {
public:
    virtual ~ProcessKiller() = default;

    /// Ends what is alive a moment after CgroupDir::kill(). The kernel sends that signal to the first thread of each process
    /// (seen on Linux 6.1 and 6.18), where it has no effect if this thread has ended and others go on. `path`: of `cgroup`, as in
    /// /proc/PID/cgroup. Takes up to 200 ms.
    virtual void killEach(const CgroupDir& cgroup, const std::string& path) const = 0;

    /// SIGKILL to the processes of `owner` that trace what is in `cgroup`, and to those that trace these. With
    /// PTRACE_O_TRACEEXIT (ptrace(2)) a tracer keeps what got SIGKILL from ending for as long as it likes. Which ones.
    virtual std::vector<pid_t> killTracers(const CgroupDir& cgroup, const UserIds& owner) const = 0;
};

class KernelProcessKiller : public ProcessKiller {
public:
    explicit KernelProcessKiller(ProcessTable processes) : processes_(std::move(processes)) {}

    void killEach(const CgroupDir& cgroup, const std::string& path) const override;
    std::vector<pid_t> killTracers(const CgroupDir& cgroup, const UserIds& owner) const override;

private:
    void killListed(const CgroupDir& cgroup, const std::string& path) const;
    /// The process, if this thread of it is in the cgroup or below.
    void killInside(pid_t pid, pid_t thread, const std::string& path) const;
    /// The process that traces this thread, if the owner may signal it.
    std::optional<pid_t> killTracer(pid_t thread, const UserIds& owner) const;

    ProcessTable processes_;
};

} // namespace pinfold
