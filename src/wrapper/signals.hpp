// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/unique_fd.hpp"

#include <sys/signalfd.h>
#include <sys/types.h>

#include <csignal>
#include <optional>

namespace pinfold {

/// Blocks every signal and reads the signals from a descriptor instead. SignalReader changes no disposition, because the job
/// inherits the dispositions.
class SignalReader {
public:
    /// Blocks all signals. previous() is the signal mask that the job gets. Returns false and sets errno if no descriptor is
    /// left.
    bool block();
    /// Makes the kernel report the child's end. If this program had inherited SIGCHLD as ignored, the kernel would reap the child
    /// without a report. Call this after the fork, because dispositions may change only after the fork.
    static void takeBackChild();

    const sigset_t& previous() const { return previous_; }
    int fd() const { return fd_.get(); }
    std::optional<signalfd_siginfo> read() const;

private:
    sigset_t previous_{};
    UniqueFd fd_;
};

/// Returns true if a terminal sent this signal to its whole foreground process group, with the job.
bool cameFromTerminal(const signalfd_siginfo& info);

/// Returns true if this signal stops a process when it comes from a terminal.
bool isStopSignal(int signal);

/// Passes the signal on to a process. A queued signal keeps its value.
void forward(const signalfd_siginfo& info, int pidfd);

/// Ends this process by the signal, without a core dump of this process.
[[noreturn]] void dieBySignal(int signal);

} // namespace pinfold
