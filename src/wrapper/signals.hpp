// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/unique_fd.hpp"

#include <sys/signalfd.h>
#include <sys/types.h>

#include <csignal>
#include <optional>

namespace pinfold {

/// Blocks every signal and reads the signals from a descriptor instead. It changes no disposition, because the job inherits them.
class SignalReader {
public:
    /// Blocks all signals. previous() is the signal mask that the job gets. False, with errno, when no descriptor is left.
    bool block();
    /// Call this after the fork, from which on dispositions of ours may be changed. If we had inherited SIGCHLD as ignored, the
    /// kernel would reap our child without telling us.
    static void takeBackChild();

    const sigset_t& previous() const { return previous_; }
    int fd() const { return fd_.get(); }
    std::optional<signalfd_siginfo> read() const;

private:
    sigset_t previous_{};
    UniqueFd fd_;
};

/// True: a terminal sent this signal to its whole foreground process group, including the job.
bool cameFromTerminal(const signalfd_siginfo& info);

/// True: this signal stops a process when it comes from a terminal.
bool isStopSignal(int signal);

/// Sends the signal on to a process; a queued signal keeps its value.
void forward(const signalfd_siginfo& info, int pidfd);

/// Ends this process by the signal, without a core dump of its own.
[[noreturn]] void dieBySignal(int signal);

} // namespace pinfold
