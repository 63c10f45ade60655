// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests that one jump of the clock does not remove all receipts.
#include "history_fixture.hpp"

#include <filesystem>

namespace pinfold::test {
namespace {

constexpr Microseconds kHour = 1h;
constexpr Microseconds kDay = 24h;
constexpr RealTime kStart(20'000 * kDay);
constexpr Microseconds kMaxAge = 100 * kDay;

class HistoryClockTest : public TemporaryDirectory {
protected:
    HistoryClockTest() {
        EXPECT_TRUE(history.write({{receipt("old", "sge.1", toUsec(kStart - kDay)), receipt("new", "sge.2", toUsec(kStart))}}));
    }

    /// Vacuums the history, as pinfoldd does every hour. The variables `boot` and `now` act as the clocks.
    Vacuumed look() {
        const auto done = history.vacuum({.maxAge = kMaxAge, .clock = ClockReading{bootId, boot}}, now, 100);
        EXPECT_TRUE(done) << done.error().message;
        return *done;
    }
    void passes(Microseconds time) {
        now += time;
        boot += time;
    }

    RealTime now = kStart;
    BootTime boot{kHour};
    std::string bootId = "first";
    History history = *History::open(top() / "history.db", History::Mode::ReadWrite);
};

TEST_F(HistoryClockTest, whatGrowsOldWhileTheNodeIsUpGoes) {
    EXPECT_FALSE(look().clockDoubted);
    for (int day = 0; day < 99; ++day) {
        passes(kDay);
        EXPECT_EQ(look().removed, 0U);
    }
    passes(kHour);
    EXPECT_EQ(look().removed, 1U);
    passes(kDay);
    EXPECT_EQ(look().removed, 1U);
}

TEST_F(HistoryClockTest, aJumpAheadRemovesNothing) {
    EXPECT_FALSE(look().clockDoubted);
    now += 365 * kDay;
    passes(kHour);
    for (int hour = 0; hour < 24; ++hour) {
        const auto done = look();
        EXPECT_TRUE(done.clockDoubted && done.removed == 0) << hour;
        passes(kHour);
    }
    now -= 365 * kDay; // somebody has set the clock back to the right time
    EXPECT_EQ(look().removed, 0U);
}

TEST_F(HistoryClockTest, aClockThatStaysThereIsBelievedAfterADay) {
    look();
    now += 365 * kDay;
    EXPECT_TRUE(look().clockDoubted);
    for (int hour = 0; hour < 24; ++hour)
        passes(kHour), look();
    EXPECT_FALSE(look().clockDoubted);
    EXPECT_EQ(history.list({})->size(), 0U);
}

TEST_F(HistoryClockTest, theFirstLookGoesByTheNewestReceipt) {
    now += 365 * kDay;
    EXPECT_TRUE(look().clockDoubted);
    EXPECT_EQ(history.list({})->size(), 2U);
}

TEST_F(HistoryClockTest, theClockOfAnEmptyHistoryIsBelieved) {
    auto empty = History::open(top() / "empty.db", History::Mode::ReadWrite);
    ASSERT_TRUE(empty);
    const auto done = empty->vacuum({.maxAge = kMaxAge, .clock = ClockReading{bootId, boot}}, now, 100);
    ASSERT_TRUE(done);
    EXPECT_FALSE(done->clockDoubted);
}

TEST_F(HistoryClockTest, aRebootIsNoJumpAndOneDuringAJumpDoesNotHideIt) {
    look();
    bootId = "second";
    now += 5 * kDay; // switched off
    boot = BootTime(kHour);
    EXPECT_FALSE(look().clockDoubted);
    bootId = "third";
    now += 365 * kDay;
    boot = BootTime(kHour);
    EXPECT_TRUE(look().clockDoubted);
}

TEST_F(HistoryClockTest, whoAsksForItIsObeyed) {
    look();
    now += 365 * kDay;
    EXPECT_EQ(history.vacuum({.maxAge = kMaxAge}, now, 100)->removed, 2U);
}

} // namespace
} // namespace pinfold::test
