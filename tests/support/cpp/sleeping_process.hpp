// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes real processes that a test can look at.
#pragma once

#include "base/unique_fd.hpp"
#include "os/process.hpp"
#include "tests/support/cpp/fork.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace pinfold::test {

constexpr int kDeadlineMs = 10'000;
/// The deadline is long, because a child can need CPU time before its report, and many other programs can run at this time.
constexpr int kReportMs = 60'000;

/// Forks a process, and waits until the process has run `body`. After `body`, the process sleeps until somebody kills the
/// process.
class SleepingProcess {
public:
    explicit SleepingProcess(
        const std::function<void()>& body = [] {}, int reportMs = kReportMs) {
        int ends[2] = {-1, -1};
        EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
        UniqueFd ready(ends[0]);
        UniqueFd say(ends[1]);
        pid_ = forkDependent();
        if (pid_ == 0) {
            body();
            (void)!::write(say.get(), "1", 1);
            for (;;)
                ::pause();
        }
        say.reset();
        pollfd report{ready.get(), POLLIN, 0};
        char byte = 0;
        // Without a time limit, a child that hangs would keep the whole test program from ending.
        if (::poll(&report, 1, reportMs) == 1)
            EXPECT_EQ(::read(ready.get(), &byte, 1), 1) << "the child died early";
        else
            ADD_FAILURE() << "the child has not reported that it is ready";
        auto opened = openPidfd(pid_);
        EXPECT_TRUE(opened);
        pidfd_ = *std::move(opened);
    }
    SleepingProcess(const SleepingProcess&) = delete;
    SleepingProcess& operator=(const SleepingProcess&) = delete;
    ~SleepingProcess() {
        kill();
        reap();
    }

    pid_t pid() const { return pid_; }
    int pidfd() const { return pidfd_.get(); }

    /// Kills the process, but does not reap it, so that a zombie remains.
    void kill() {
        if (reaped_)
            return;
        ::kill(pid_, SIGKILL);
        pollfd end{pidfd_.get(), POLLIN, 0};
        EXPECT_EQ(::poll(&end, 1, kDeadlineMs), 1);
    }
    void reap() {
        if (!reaped_) {
            EXPECT_EQ(::waitpid(pid_, nullptr, 0), pid_);
        }
        reaped_ = true;
    }

private:
    pid_t pid_ = -1;
    UniqueFd pidfd_;
    bool reaped_ = false;
};

} // namespace pinfold::test
