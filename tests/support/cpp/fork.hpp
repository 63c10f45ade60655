// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

namespace pinfold::test {

/// As fork(2), and the child is killed when the calling thread ends, also by a crash: a child that stays would hold the pipe open
/// that the test's output is read from.
inline pid_t forkDependent() {
    const auto parent = ::getpid();
    const auto child = ::fork();
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) // it ended before, and no signal comes
            ::_exit(1);
    }
    return child;
}

} // namespace pinfold::test
