// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wrapper/signals.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace pinfold {

bool SignalReader::block() {
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &previous_);
    fd_.reset(::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
    return static_cast<bool>(fd_);
}

void SignalReader::takeBackChild() { ::signal(SIGCHLD, SIG_DFL); }

std::optional<signalfd_siginfo> SignalReader::read() const {
    signalfd_siginfo info{};
    if (::read(fd_.get(), &info, sizeof info) != sizeof info)
        return std::nullopt;
    return info;
}

bool cameFromTerminal(const signalfd_siginfo& info) {
    switch (info.ssi_signo) {
    case SIGINT:
    case SIGQUIT:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGHUP:
    case SIGCONT:
    case SIGWINCH:
        return info.ssi_code == SI_KERNEL;
    default:
        return false;
    }
}

bool isStopSignal(int signal) { return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU; }

void forward(const signalfd_siginfo& info, int pidfd) {
    const auto number = static_cast<int>(info.ssi_signo);
    if (info.ssi_code == SI_QUEUE) {
        siginfo_t queued{};
        queued.si_signo = number;
        queued.si_code = SI_QUEUE;
        queued.si_pid = static_cast<pid_t>(info.ssi_pid);
        queued.si_uid = info.ssi_uid;
        // NOLINTNEXTLINE(performance-no-int-to-ptr): the pointer belongs to the sender, and is only a number for this program
        queued.si_value.sival_ptr = reinterpret_cast<void*>(static_cast<std::uintptr_t>(info.ssi_ptr));
        if (::syscall(SYS_pidfd_send_signal, pidfd, number, &queued, 0) == 0)
            return;
    }
    ::syscall(SYS_pidfd_send_signal, pidfd, number, nullptr, 0);
}

void dieBySignal(int signal) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    // RLIMIT_CORE does not always prevent a core dump: if the core pattern is a pipe, the kernel ignores the limit.
    ::prctl(PR_SET_DUMPABLE, 0);
    ::signal(signal, SIG_DFL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, signal);
    ::raise(signal);
    ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
    ::_exit(128 + signal);
}

} // namespace pinfold
