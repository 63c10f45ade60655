// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/unique_fd.hpp"

#include <sys/signalfd.h>
#include <sys/types.h>

#include <csignal>
#include <optional>

namespace pinfold {

/// Blocks all signals, and reads the signals from a descriptor. SignalReader leaves the dispositions of signals unchanged,
/// because the job would inherit changed dispositions.
class SignalReader {
public:
    /// Blocks all signals. After block(), previous() returns the signal mask that the job gets. Returns false and sets errno if
    /// the process cannot open another descriptor.
    bool block();
    /// Makes the kernel report the child's end. If SIGCHLD is ignored, the kernel reaps the child, and this process cannot learn
    /// how the child ended. Call takeBackChild() only after the fork, because the job must not inherit the disposition that
    /// takeBackChild() sets.
    static void takeBackChild();

    const sigset_t& previous() const { return previous_; }
    int fd() const { return fd_.get(); }
    std::optional<signalfd_siginfo> read() const;

private:
    sigset_t previous_{};
    UniqueFd fd_;
};

/// Returns true if a terminal sent the signal `info`. A terminal sends a signal to its whole foreground process group,
/// including the job.
bool cameFromTerminal(const signalfd_siginfo& info);

/// Returns true for the signals that a terminal sends to stop a process.
bool isStopSignal(int signal);

/// Passes the signal on to a process. If the signal was queued with a value (sigqueue(3)), the process gets the same value.
void forward(const signalfd_siginfo& info, int pidfd);

/// Ends this process with the signal `signal`. The process leaves no core dump.
[[noreturn]] void dieBySignal(int signal);

} // namespace pinfold
