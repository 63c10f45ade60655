// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/per_user_limit.hpp"
#include "core/access/call_rate.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace pinfold {
namespace {

constexpr std::uint64_t kSecond = 1'000'000;

int takeAll(CallRate& rate, uid_t uid, std::uint64_t now) {
    int taken = 0;
    while (taken < 10'000 && rate.take(uid, now))
        ++taken;
    return taken;
}

TEST(CallRate, isABurstAndThenARate) {
    CallRate rate;
    EXPECT_EQ(takeAll(rate, 1000, kSecond), 200);
    EXPECT_FALSE(rate.take(1000, kSecond));
    EXPECT_EQ(takeAll(rate, 1000, 2 * kSecond), 100);
    EXPECT_EQ(takeAll(rate, 1000, 2 * kSecond + kSecond / 2), 50);
    EXPECT_EQ(takeAll(rate, 1000, 1000 * kSecond), 200) << "an hour's rest is no bigger burst";
}

TEST(CallRate, ofOneUserIsNotAnothers) {
    CallRate rate;
    takeAll(rate, 1000, kSecond);
    EXPECT_EQ(takeAll(rate, 1001, kSecond), 200);
}

TEST(CallRate, countsWhatACallCosts) {
    CallRate rate;
    ASSERT_TRUE(rate.take(1000, kSecond));
    rate.charge(1000, 150'000); // 150 ms
    EXPECT_EQ(takeAll(rate, 1000, kSecond), 49);
}

TEST(CallRate, forgivesOneHangWithinSeconds) {
    CallRate rate;
    ASSERT_TRUE(rate.take(1000, kSecond));
    rate.charge(1000, 60 * kSecond);
    EXPECT_FALSE(rate.take(1000, 2 * kSecond));
    EXPECT_FALSE(rate.take(1000, 3 * kSecond));
    EXPECT_TRUE(rate.take(1000, 4 * kSecond));
}

TEST(CallRate, ofManyUsersIsRememberedOnlyAsLongAsItCounts) {
    CallRate rate;
    takeAll(rate, 1, kSecond);
    for (uid_t uid = 2; uid < 10'000; ++uid)
        EXPECT_TRUE(rate.take(uid, kSecond));
    EXPECT_FALSE(rate.take(1, kSecond)) << "many others don't refill a bucket";
    EXPECT_EQ(takeAll(rate, 1, 4 * kSecond), 200);
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
    wait.reset(); // would touch freed memory, which the sanitizers' build sees
    EXPECT_FALSE(wait);
}

} // namespace
} // namespace pinfold
