// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/per_user_limit.hpp"
#include "core/access/call_rate.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace pinfold {
namespace {

constexpr BootTime kStart(1s);

int takeAll(CallRate& rate, uid_t uid, BootTime now) {
    int taken = 0;
    while (taken < 10'000 && rate.take(uid, now))
        ++taken;
    return taken;
}

TEST(CallRate, isABurstAndThenARate) {
    CallRate rate;
    EXPECT_EQ(takeAll(rate, 1000, kStart), 200);
    EXPECT_FALSE(rate.take(1000, kStart));
    EXPECT_EQ(takeAll(rate, 1000, kStart + 1s), 100);
    EXPECT_EQ(takeAll(rate, 1000, kStart + 1500ms), 50);
    EXPECT_EQ(takeAll(rate, 1000, kStart + 999s), 200) << "an hour's rest is no bigger burst";
}

TEST(CallRate, ofOneUserIsNotAnothers) {
    CallRate rate;
    takeAll(rate, 1000, kStart);
    EXPECT_EQ(takeAll(rate, 1001, kStart), 200);
}

TEST(CallRate, countsWhatACallCosts) {
    CallRate rate;
    ASSERT_TRUE(rate.take(1000, kStart));
    rate.charge(1000, 150ms);
    EXPECT_EQ(takeAll(rate, 1000, kStart), 49);
}

TEST(CallRate, forgivesOneHangWithinSeconds) {
    CallRate rate;
    ASSERT_TRUE(rate.take(1000, kStart));
    rate.charge(1000, 60s);
    EXPECT_FALSE(rate.take(1000, kStart + 1s));
    EXPECT_FALSE(rate.take(1000, kStart + 2s));
    EXPECT_TRUE(rate.take(1000, kStart + 3s));
}

TEST(CallRate, ofManyUsersIsRememberedOnlyAsLongAsItCounts) {
    CallRate rate;
    takeAll(rate, 1, kStart);
    for (uid_t uid = 2; uid < 10'000; ++uid)
        EXPECT_TRUE(rate.take(uid, kStart));
    EXPECT_FALSE(rate.take(1, kStart)) << "many others don't refill a bucket";
    EXPECT_EQ(takeAll(rate, 1, kStart + 3s), 200);
}

TEST(PerUserLimit, eachEndsWithItsLastCopy) {
    PerUserLimit waits(3);
    std::vector<std::shared_ptr<void>> held;
    for (std::size_t i = 0; i < 3; ++i)
        held.push_back(waits.enter(1000));
    EXPECT_TRUE(held.back());
    EXPECT_FALSE(waits.enter(1000));
    EXPECT_TRUE(waits.enter(1001)) << "each user has their own";
    const auto copy = held.back();
    held.pop_back();
    EXPECT_FALSE(waits.enter(1000));
    held.pop_back();
    EXPECT_TRUE(waits.enter(1000));
}

TEST(PerUserLimit, allTogetherMayHaveLessThanEachOfThem) {
    PerUserLimit waits(3, 5);
    std::vector<std::shared_ptr<void>> held;
    for (uid_t uid = 1000; uid < 1005; ++uid)
        EXPECT_TRUE(held.emplace_back(waits.enter(uid)));
    EXPECT_FALSE(waits.enter(1000));
    EXPECT_FALSE(waits.enter(1009));
    held.pop_back();
    EXPECT_TRUE(waits.enter(1009));
}

TEST(PerUserLimit, mayOutliveTheCounter) {
    std::shared_ptr<void> wait;
    {
        PerUserLimit waits(1);
        wait = waits.enter(1000);
    }
    EXPECT_EQ(wait.use_count(), 1);
    wait.reset(); // the sanitizers report if reset() touches freed memory
    EXPECT_FALSE(wait);
}

} // namespace
} // namespace pinfold
