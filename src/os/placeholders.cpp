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
    // It is pinfoldd's main thread that forks: it ends when pinfoldd does.
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent)
        ::_exit(1);
    ::prctl(PR_SET_NAME, "pinfold-place");
    for (;;)
        ::pause(); // pinfoldd has blocked the signals that it acts on
}

} // namespace

Result<pid_t> ForkedPlaceholders::start() {
    const auto parent = ::getpid();
    // With our table of descriptors, and not a copy: to close one of a user's may take for ever, also at the end of the process
    // (FUSE's flush). And without handlers of fork(3): the child calls nothing that could need them.
    const auto pid = static_cast<pid_t>(::syscall(SYS_clone, CLONE_FILES | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (pid == 0)
        holdThePlace(parent);
    if (pid < 0)
        return Error{ErrorCode::Internal, std::string("cannot start a process for a new scope: ") + std::strerror(errno)};
    auto pidfd = openPidfd(pid); // its number can't be another's: nobody but us can reap it
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
    ::waitpid(placeholder, nullptr, 0); // it has ended: this does not wait
    children_.erase(placeholder);
}

} // namespace pinfold
