// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sleeping_process.hpp"

#include <gtest/gtest-spi.h>

namespace pinfold::test {
namespace {

TEST(SleepingProcess, endsWithATestThatCrashes) {
    int ends[2] = {-1, -1};
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd output(ends[0]);
    UniqueFd held(ends[1]);
    const auto crashing = ::fork();
    if (crashing == 0) {
        const SleepingProcess child; // the child runs, and holds a copy of ends[1] open
        ::raise(SIGKILL);
    }
    held.reset();
    ASSERT_EQ(::waitpid(crashing, nullptr, 0), crashing);
    pollfd closed{output.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&closed, 1, kDeadlineMs), 1) << "its child still holds the pipe";
}

TEST(SleepingProcess, failsTheTestIfTheChildHangs) {
    const auto hang = [] { ::pause(); };
    const auto start = [&hang] { const SleepingProcess child(hang, 50); };
    EXPECT_NONFATAL_FAILURE(start(), "has not reported");
}

} // namespace
} // namespace pinfold::test
