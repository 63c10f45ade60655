// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/quiet_thread.hpp"

#include <csignal>
#include <thread>

namespace pinfold {
namespace {

/// Blocks all signals in the calling thread. A new thread inherits the blocked signals from the thread that starts it.
class AllSignalsBlocked {
public:
    AllSignalsBlocked() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    AllSignalsBlocked(const AllSignalsBlocked&) = delete;
    AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

private:
    sigset_t before_{};
};

} // namespace

void startQuietThread(std::function<void()> work) {
    const AllSignalsBlocked blocked;
    std::thread(std::move(work)).detach();
}

} // namespace pinfold
