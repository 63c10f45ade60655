// SPDX-License-Identifier: LGPL-2.1-or-later
#include "run/child.hpp"

#include "base/error_code.hpp"
#include "run/command.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace pinfold {

bool Child::fork(char** command, const sigset_t& mask) {
    std::array<int, 2> go{};
    std::array<int, 2> result{};
    if (::pipe2(go.data(), O_CLOEXEC) != 0)
        return false;
    const UniqueFd goRead(go[0]);
    go_.reset(go[1]);
    if (::pipe2(result.data(), O_CLOEXEC) != 0)
        return false;
    execResult_.reset(result[0]);
    const UniqueFd resultWrite(result[1]);

    pid_ = ::fork();
    if (pid_ == 0) {
        go_.reset(); // else it would never see that its parent is gone
        execResult_.reset();
        waitAndExec(goRead.get(), resultWrite.get(), command, mask);
    }
    if (pid_ < 0)
        return false;
    pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    return static_cast<bool>(pidfd_);
}

void Child::waitAndExec(int go, int execResult, char** command, const sigset_t& mask) {
    char byte = 0;
    ssize_t count = 0;
    do
        count = ::read(go, &byte, 1);
    while (count < 0 && errno == EINTR);
    if (count != 1)
        ::_exit(kRunFailed);
    // What was sent meanwhile arrives now, before the command, as it would have without us.
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    const int error = execCommand(command);
    (void)!::write(execResult, &error, sizeof error);
    ::_exit(execFailureStatus(error));
}

void Child::letGo() {
    (void)!::write(go_.get(), "", 1); // fails only when the child is gone, which its pidfd tells
    go_.reset();
}

int Child::takeExecResult() {
    int error = 0;
    ssize_t count = 0;
    do
        count = ::read(execResult_.get(), &error, sizeof error);
    while (count < 0 && errno == EINTR);
    execResult_.reset();
    return count == sizeof error ? error : 0;
}

} // namespace pinfold
