// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

namespace pinfold::test {

/// Forks a child. The kernel kills the child when the calling thread ends, even if the thread crashes. If a program reads the
/// test's output from a pipe, a child that outlived the test would keep the pipe open.
inline pid_t forkDependent() {
    const auto parent = ::getpid();
    const auto child = ::fork();
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) // the parent ended before the child called prctl(), so the kernel will send no signal
            ::_exit(1);
    }
    return child;
}

} // namespace pinfold::test
