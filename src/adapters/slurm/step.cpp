// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/slurm/step.hpp"

#include "base/pidfd.hpp"
#include "socket_client/daemon_link.hpp"
#include "socket_client/failure_policy.hpp"
#include "socket_client/say.hpp"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace pinfold {
namespace {

// The plugin waits only a short time for the start of a job. If a job has not started soon after BatchStartTimeout (10 s by
// default), srun gives up.
constexpr Patience kForStart{10s, 10s};
// kForEnd is longer than a site's kill_grace. If a process has not ended after the time kForEnd, the process hangs in the kernel.
// If a process hangs in the kernel, Slurm's epilogue fails, and Slurm drains the node.
constexpr Patience kForEnd{10s, 120s};
// The plugin waits only a short time for pinfoldd to take the job's output, because the job can run without pinfoldd's lines.
constexpr Patience kForOutput{1s, 1s};

/// Keeps the binding of a process to the CPUs that Slurm's plugins have chosen. Before Linux 6.2, a process loses its binding to
/// CPUs when the process moves to a cgroup with the controller cpuset.
class KeptAffinity {
public:
    explicit KeptAffinity(pid_t pid) : pid_(pid), known_(::sched_getaffinity(pid, sizeof cpus_, &cpus_) == 0) {}
    ~KeptAffinity() {
        if (known_)
            ::sched_setaffinity(pid_, sizeof cpus_, &cpus_);
    }
    KeptAffinity(const KeptAffinity&) = delete;
    KeptAffinity& operator=(const KeptAffinity&) = delete;

private:
    pid_t pid_;
    cpu_set_t cpus_{};
    bool known_;
};

Error noPidfd() { return {ErrorCode::PidGone, std::string("pidfd_open: ") + std::strerror(errno)}; }

Result<WrapperReply> create(const WrapperCreate& request, pid_t process) {
    const auto leader = pidfdOf(process);
    const auto stepd = pidfdOf(::getpid());
    if (!leader || !stepd)
        return noPidfd();
    const KeptAffinity affinity(process);
    DaemonLink link;
    link.create(request, {.leader = leader.get(), .supervisor = stepd.get(), .output = -1});
    return link.wait(kForStart);
}

Result<WrapperReply> end(const WrapperEnd& request, Patience patience) {
    DaemonLink link;
    link.end(request);
    return link.wait(patience);
}

} // namespace

Result<void> Step::join(int task, pid_t process, const SlurmTask& what) {
    const auto request = slurmRequest(what);
    const auto joined = refused_ ? Result<WrapperReply>(*refused_) : create(request, process);
    if (joined) {
        contained_.insert_or_assign(task, Contained{request.key, process, joined->task});
        variables_.set(joined->environment);
        return {};
    }
    if (!refused_ && mayRunUnconfined(joined.error(), request.key))
        return {};
    refused_ = joined.error();
    // The process ids of the earlier tasks are still valid, because nobody has reaped the processes yet. slurmstepd has not let
    // the processes of the earlier tasks continue yet.
    for (const auto& [number, earlier] : contained_)
        ::kill(earlier.leader, SIGKILL);
    return *refused_;
}

Result<std::string> Step::over(int task, ExitState exit) {
    const auto known = contained_.extract(task);
    if (!known)
        return std::string();
    const auto& [key, leader, number] = known.mapped();
    const auto ended = end({.key = key, .leader = leader, .exit = exit, .task = number}, kForEnd);
    if (!ended)
        return ended.error();
    return ended->notice + ended->summary;
}

Result<void> handOverOutput(const std::string& key) {
    const auto self = pidfdOf(::getpid());
    if (!self)
        return noPidfd();
    DaemonLink link;
    link.create({.key = key, .limits = {}}, {.leader = self.get(), .supervisor = -1, .output = openStderr()});
    const auto answer = link.wait(kForOutput);
    return answer ? Result<void>() : Result<void>(answer.error());
}

Result<void> endJob(const std::string& key, ExitState exit, const JobIdentity& identity) {
    const auto ended = end({.key = key, .leader = 0, .exit = exit, .identity = identity}, kForEnd);
    if (ended || ended.error().code == ErrorCode::NoSuchJob)
        return {};
    return mayRunUnconfined(ended.error(), key) ? Result<void>() : Result<void>(ended.error());
}

} // namespace pinfold
