// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/support/fake_node.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace pinfold::test {
namespace {

constexpr int kDeadlineMs = 10'000;

TEST(ChildProcess, endsWithATestThatCrashes) {
    int ends[2] = {-1, -1};
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd output(ends[0]);
    UniqueFd held(ends[1]);
    const auto crashing = ::fork();
    if (crashing == 0) {
        const ChildProcess child;
        ::raise(SIGKILL);
    }
    held.reset();
    ASSERT_EQ(::waitpid(crashing, nullptr, 0), crashing);
    pollfd closed{output.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&closed, 1, kDeadlineMs), 1) << "its child still holds the pipe";
}

} // namespace
} // namespace pinfold::test
