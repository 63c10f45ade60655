// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ship/archive_view.hpp"

#include <gtest/gtest.h>

namespace pinfold::test {
namespace {

constexpr RealTime kNoon{1'700'000'000s};

TEST(ClockOffsetTest, isTheDifferenceThatIsCertain) {
    EXPECT_EQ(clockOffset(kNoon, kNoon - 7s, kNoon + 1s), 7s) << "the node's clock is ahead";
    EXPECT_EQ(clockOffset(kNoon, kNoon + 7s, kNoon + 1s), -6s) << "the node's clock is behind";
}

TEST(ClockOffsetTest, isNothingWithinTheTimeOfTheAnswer) {
    EXPECT_EQ(clockOffset(kNoon, kNoon + 59s, kNoon + 60s), 0s);
    EXPECT_EQ(clockOffset(kNoon, kNoon, kNoon), 0s);
}

TEST(ClockOffsetTest, hasBoundsWhateverTheServerAnswers) {
    EXPECT_EQ(clockOffset(kNoon, RealTime{}, kNoon), kNoon.time_since_epoch());
    EXPECT_EQ(clockOffset(kNoon, RealTime::max(), kNoon), -std::chrono::microseconds::max());
    EXPECT_EQ(clockOffset(RealTime::max(), RealTime{}, kNoon), std::chrono::microseconds::max());
}

} // namespace
} // namespace pinfold::test
