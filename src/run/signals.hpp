// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/unique_fd.hpp"

#include <sys/signalfd.h>
#include <sys/types.h>

#include <csignal>
#include <optional>

namespace pinfold {

/// Blocks every signal and reads them from a descriptor instead. Changes no disposition: the job inherits those.
class SignalReader {
public:
    /// Blocks; `previous()` is what the job gets. False, with errno, when there is no descriptor.
    bool block();
    /// After the fork: from here on a disposition of ours may be changed. SIGCHLD inherited as ignored would reap behind our
    /// back.
    static void takeBackChild();

    const sigset_t& previous() const { return previous_; }
    int fd() const { return fd_.get(); }
    std::optional<signalfd_siginfo> read() const;

private:
    sigset_t previous_{};
    UniqueFd fd_;
};

/// A signal that a terminal sent to its whole foreground process group, the job included.
bool cameFromTerminal(const signalfd_siginfo& info);

/// Stops a process when it comes from a terminal.
bool isStopSignal(int signal);

/// Sends the signal on, a queued one with its value.
void forward(const signalfd_siginfo& info, int pidfd);

/// Ends this process by the signal, without a core dump of its own.
[[noreturn]] void dieBySignal(int signal);

} // namespace pinfold
