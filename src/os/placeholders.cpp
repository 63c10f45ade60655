// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/placeholders.hpp"

#include "os/process.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <utility>

namespace pinfold {
namespace {

[[noreturn]] void holdThePlace(pid_t parent) {
    // pinfoldd's main thread starts the child. When the main thread ends, the kernel sends SIGKILL to the child. The main thread
    // runs until pinfoldd ends.
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent)
        ::_exit(1);
    ::prctl(PR_SET_NAME, "pinfold-place");
    for (;;)
        ::pause(); // the child inherits pinfoldd's signal mask, which blocks the signals on which pinfoldd acts
}

} // namespace

Result<pid_t> ForkedPlaceholders::start() {
    const auto parent = ::getpid();
    // The child shares pinfoldd's table of descriptors. If the child had its own copy of the descriptors, the child would close
    // users' descriptors when it ends. close() of a user's descriptor can hang for ever, because FUSE's flush can hang. start()
    // uses the raw system call, which runs no handlers of pthread_atfork(3). The child calls no function that needs the handlers
    // of pthread_atfork(3).
    const auto pid = static_cast<pid_t>(::syscall(SYS_clone, CLONE_FILES | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (pid == 0)
        holdThePlace(parent);
    if (pid < 0)
        return Error{ErrorCode::Internal, std::string("cannot start a process for a new scope: ") + std::strerror(errno)};
    auto pidfd = openPidfd(pid); // the process id still belongs to the child, because only pinfoldd can reap the child
    if (!pidfd) {
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        return pidfd.error();
    }
    children_[pid].pidfd = std::move(*pidfd);
    return pid;
}

bool ForkedPlaceholders::lives(pid_t placeholder) const { return !hasEnded(children_.at(placeholder).pidfd.get()); }

void ForkedPlaceholders::end(pid_t placeholder, std::function<void()> over) {
    auto& child = children_.at(placeholder);
    (void)sendSignalTo(child.pidfd.get(), SIGKILL);
    child.watch = loop_.onReadable(child.pidfd.get(), [&child, over = std::move(over)] {
        child.watch.reset();
        over();
    });
}

void ForkedPlaceholders::release(pid_t placeholder) {
    if (lives(placeholder))
        return end(placeholder, [this, placeholder] { release(placeholder); });
    ::waitpid(placeholder, nullptr, 0); // the child has ended, so waitpid(2) does not wait
    children_.erase(placeholder);
}

} // namespace pinfold
