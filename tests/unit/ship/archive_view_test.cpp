// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ship/archive_view.hpp"

#include <gtest/gtest.h>

namespace pinfold::test {
namespace {

constexpr RealTime kLastAnswer{1'700'000'000s};

TEST(ClockOffsetTest, isTheDifferenceThatIsCertain) {
    EXPECT_EQ(clockOffset(kLastAnswer, kLastAnswer - 7s, kLastAnswer + 1s), 7s) << "the node's clock is ahead";
    EXPECT_EQ(clockOffset(kLastAnswer, kLastAnswer + 7s, kLastAnswer + 1s), -6s) << "the node's clock is behind";
}

TEST(ClockOffsetTest, isNothingWithinTheTimeOfTheAnswer) {
    EXPECT_EQ(clockOffset(kLastAnswer, kLastAnswer + 59s, kLastAnswer + 60s), 0s);
    EXPECT_EQ(clockOffset(kLastAnswer, kLastAnswer, kLastAnswer), 0s);
}

TEST(ClockOffsetTest, hasBoundsWhateverTheServerAnswers) {
    EXPECT_EQ(clockOffset(kLastAnswer, RealTime{}, kLastAnswer), kLastAnswer.time_since_epoch());
    EXPECT_EQ(clockOffset(kLastAnswer, RealTime::max(), kLastAnswer), -std::chrono::microseconds::max());
    EXPECT_EQ(clockOffset(RealTime::max(), RealTime{}, kLastAnswer), std::chrono::microseconds::max());
}

} // namespace
} // namespace pinfold::test
