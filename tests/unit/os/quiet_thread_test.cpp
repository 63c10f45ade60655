// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/quiet_thread.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <future>

namespace pinfold {
namespace {

bool blocks(int signal) {
    sigset_t blocked;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    return sigismember(&blocked, signal) == 1;
}

TEST(QuietThread, takesNoSignalAndLeavesThoseOfItsStarter) {
    std::promise<bool> inside;
    startQuietThread([&inside] { inside.set_value(blocks(SIGTERM) && blocks(SIGUSR1)); });
    EXPECT_TRUE(inside.get_future().get());
    EXPECT_FALSE(blocks(SIGTERM));
}

} // namespace
} // namespace pinfold
