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

/// Kills processes that are still alive after the kernel has killed a cgroup (cgroup.kill). The unit tests have their own class
/// that implements ProcessKiller. Several threads share one ProcessKiller, and each thread holds a shared_ptr to the
/// ProcessKiller.
class ProcessKiller {
public:
    virtual ~ProcessKiller() = default;

    /// Ends the processes that CgroupDir::kill() has not ended. To kill a cgroup, the kernel sends SIGKILL to the first thread of
    /// each process (seen on Linux 6.1 and 6.18). SIGKILL to the first thread has no effect if the first thread has ended and
    /// other threads still run. `path` is the path of `cgroup`, as /proc/PID/cgroup shows it. The function killEach() takes up to
    /// 200 ms.
    virtual void killEach(const CgroupDir& cgroup, const std::string& path) const = 0;

    /// Sends SIGKILL to the processes of `owner` that trace processes in `cgroup`. killTracers() also sends SIGKILL to a process
    /// of `owner` that traces one of the tracers. With PTRACE_O_TRACEEXIT (ptrace(2)), a tracer can delay the end of a process
    /// without limit, even after SIGKILL. Returns the processes that got SIGKILL.
    virtual std::vector<pid_t> killTracers(const CgroupDir& cgroup, const UserIds& owner) const = 0;
};

class KernelProcessKiller : public ProcessKiller {
public:
    explicit KernelProcessKiller(ProcessTable processes) : processes_(std::move(processes)) {}

    void killEach(const CgroupDir& cgroup, const std::string& path) const override;
    std::vector<pid_t> killTracers(const CgroupDir& cgroup, const UserIds& owner) const override;

private:
    void killListed(const CgroupDir& cgroup, const std::string& path) const;
    /// Kills the process if its thread `thread` is in the cgroup or below it.
    void killInside(pid_t pid, pid_t thread, const std::string& path) const;
    /// Kills the process that traces `thread`, if `owner` has the right to send signals to the tracing process.
    std::optional<pid_t> killTracer(pid_t thread, const UserIds& owner) const;

    ProcessTable processes_;
};

} // namespace pinfold
