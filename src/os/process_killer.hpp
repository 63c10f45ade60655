// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "os/cgroup.hpp"
#include "os/process.hpp"

#include <string>

namespace pinfold {

/// Seam. A thread calls it, and holds it by a shared_ptr.
class ProcessKiller {
public:
    virtual ~ProcessKiller() = default;

    /// Ends what is alive a moment after CgroupDir::kill(). The kernel sends that signal to the first thread of each process
    /// (seen on Linux 6.1 and 6.18), where it has no effect if this thread has ended and others go on. `path`: of `cgroup`, as in
    /// /proc/PID/cgroup. Takes up to 200 ms.
    virtual void killEach(const CgroupDir& cgroup, const std::string& path) const = 0;
};

class KernelProcessKiller : public ProcessKiller {
public:
    explicit KernelProcessKiller(ProcessTable processes) : processes_(std::move(processes)) {}

    void killEach(const CgroupDir& cgroup, const std::string& path) const override;

private:
    void killListed(const CgroupDir& cgroup, const std::string& path) const;
    /// The process, if this thread of it is in the cgroup or below.
    void killInside(pid_t pid, pid_t thread, const std::string& path) const;

    ProcessTable processes_;
};

} // namespace pinfold
