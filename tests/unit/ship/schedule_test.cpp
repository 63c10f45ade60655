// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ship/schedule.hpp"

#include <gtest/gtest.h>

namespace pinfold::test {
namespace {

constexpr BootTime kStart{1h};

Schedule started(double random = 1) {
    Schedule made(kStart, [random] { return random; });
    made.succeeded(kStart, false);
    return made;
}

TEST(Schedule, beginsSoonButNotEverywhereAtOnce) {
    EXPECT_EQ(Schedule(kStart, [] { return 0; }).next(), kStart);
    EXPECT_EQ(Schedule(kStart, [] { return 1; }).next(), kStart + Schedule::kFirst);
}

TEST(Schedule, receiptsWaitAMinuteAtMost) {
    for (const double random : {0.0, 0.5, 1.0}) {
        auto schedule = started(random);
        schedule.waiting(kStart + 1s);
        EXPECT_GE(schedule.next(), kStart + 1s + Schedule::kLongest / 2);
        EXPECT_LE(schedule.next(), kStart + 1s + Schedule::kLongest);
        const auto due = schedule.next();
        schedule.waiting(kStart + 20s);
        EXPECT_EQ(schedule.next(), due) << "later receipts do not delay the first one";
    }
}

TEST(Schedule, whatIsUrgentGoesAtOnce) {
    auto schedule = started();
    schedule.waiting(kStart);
    schedule.urgent(kStart + 1s);
    EXPECT_TRUE(schedule.due(kStart + 1s));
    schedule.succeeded(kStart + 2s, true);
    EXPECT_TRUE(schedule.due(kStart + 2s)) << "more waits";
}

TEST(Schedule, aHeartbeatFollowsWithinFiveMinutes) {
    for (const double random : {0.0, 1.0}) {
        const auto schedule = started(random);
        EXPECT_GE(schedule.next(), kStart + 4min);
        EXPECT_LE(schedule.next(), kStart + Schedule::kHeartbeat);
    }
}

TEST(Schedule, failuresMakeThePausesLonger) {
    auto schedule = started();
    auto now = kStart;
    Microseconds before{};
    for (int tries = 0; tries < 20; ++tries) {
        schedule.failed(now);
        const auto pause = schedule.next() - now;
        EXPECT_GE(pause, before);
        EXPECT_GE(pause, Schedule::kLeastRetry / 2);
        EXPECT_LE(pause, Schedule::kMostRetry);
        schedule.urgent(now);
        schedule.waiting(now);
        EXPECT_EQ(schedule.next(), now + pause) << "new receipts do not make pinfold-ship try more often";
        before = pause;
        now = schedule.next();
    }
    EXPECT_EQ(before, Schedule::kMostRetry);
    schedule.failed(now, Schedule::kMostLocalRetry);
    EXPECT_LE(schedule.next() - now, Schedule::kMostLocalRetry);
}

TEST(Schedule, thePausesAreSpread) {
    Schedule low(kStart, [] { return 0; });
    Schedule high(kStart, [] { return 1; });
    low.failed(kStart);
    high.failed(kStart);
    EXPECT_EQ(2 * (low.next() - kStart), high.next() - kStart);
}

TEST(Schedule, aSuccessAndANewPinfolddEndThePauses) {
    auto schedule = started();
    for (int tries = 0; tries < 9; ++tries)
        schedule.failed(kStart);
    schedule.retry(kStart + 1s);
    EXPECT_TRUE(schedule.due(kStart + 1s));
    schedule.failed(kStart + 1s);
    EXPECT_LE(schedule.next(), kStart + 1s + Schedule::kLeastRetry);
    schedule.succeeded(kStart + 5s, false);
    schedule.urgent(kStart + 6s);
    EXPECT_TRUE(schedule.due(kStart + 6s));
}

} // namespace
} // namespace pinfold::test
