// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/idleness.hpp"

#include "base/parse.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

ProfilePoint busy(double cpus, Microseconds length = 30s) {
    ProfilePoint point{.length = length};
    point.mean[static_cast<std::size_t>(Measure::Cpu)] = static_cast<float>(cpus * 1e6);
    return point;
}

/// The job kept four CPUs busy for an hour, and then used half a CPU for an hour.
Profile twoHours() {
    Profile profile;
    for (int i = 0; i < 60; ++i)
        profile.add(busy(4, 1min));
    for (int i = 0; i < 60; ++i)
        profile.add(busy(0.5, 1min));
    return profile;
}

TEST(Idleness, isAboutTheLastTimeOnly) {
    const auto idleness = idlenessOf(twoHours(), 8, 2h, 1h);
    ASSERT_TRUE(idleness);
    EXPECT_EQ(idleness->over, 1h);
    EXPECT_NEAR(idleness->used, 0.5, 1e-6);
    EXPECT_NEAR(idleness->percent(), 6.25, 1e-4);
    EXPECT_NEAR(idlenessOf(twoHours(), 8, 2h, 2h)->used, 2.25, 1e-6);
}

TEST(Idleness, saysOverWhichTimeIfPointsAreLong) {
    Profile profile;
    profile.add(busy(4, 24h));
    profile.add(busy(0.1, 3h));
    const auto idleness = idlenessOf(profile, 8, 27h + 10s, 1h);
    ASSERT_TRUE(idleness);
    EXPECT_EQ(idleness->over, 3h);
    EXPECT_NEAR(idleness->used, 0.1, 1e-6);
}

TEST(Idleness, isNotKnownWithoutCpusAndWithoutALookWithinTheTime) {
    EXPECT_FALSE(idlenessOf(twoHours(), std::nullopt, 2h, 1h));
    EXPECT_FALSE(idlenessOf(twoHours(), 0, 2h, 1h));
    EXPECT_FALSE(idlenessOf(Profile{}, 8, 2h, 3h));
    EXPECT_TRUE(idlenessOf(twoHours(), 8, 3h - 1us, 1h));
    EXPECT_FALSE(idlenessOf(twoHours(), 8, 3h, 1h)) << "the last look is as old as the time";
}

TEST(Idleness, memoryIsTheHighestNeedOfTheLastTime) {
    Profile profile;
    for (const double most : {9e9, 2e9, 1e9}) {
        ProfilePoint point{.length = 1h};
        point.most[static_cast<std::size_t>(Measure::Anon)] = static_cast<float>(most);
        point.most[static_cast<std::size_t>(Measure::Shmem)] = 1e9F;
        point.most[static_cast<std::size_t>(Measure::Cache)] = 8e9F;
        profile.add(point);
    }
    const auto idleness = memoryIdlenessOf(profile, 30e9, 3h, 2h);
    ASSERT_TRUE(idleness);
    EXPECT_NEAR(idleness->used, 3e9, 2e7);
    EXPECT_EQ(idleness->over, 2h);
    EXPECT_TRUE(isBelow(idleness, 11));
    EXPECT_FALSE(isBelow(idleness, 9) || isBelow(std::nullopt, 100));
    EXPECT_FALSE(memoryIdlenessOf(profile, memoryHeld({.memoryMax = kInfinity}), 3h, 2h));
    EXPECT_FALSE(memoryIdlenessOf(profile, memoryHeld({.memoryMax = 1}), 5h, 2h)) << "the last look is as old as the time";
    EXPECT_FALSE(memoryIdlenessOf(twoHours(), 30e9, 2h, 1h)) << "the node does not count memory";
}

TEST(Idleness, theCpusOfAJobAreItsLimitsOrElseItsSlots) {
    EXPECT_EQ(cpusHeld({}, std::nullopt), std::nullopt);
    EXPECT_EQ(cpusHeld({}, 4), 4.0);
    EXPECT_EQ(cpusHeld({.cpuQuota = 1'500'000}, 4), 1.5);
    EXPECT_EQ(cpusHeld({.cpuQuota = kInfinity}, 4), 4.0);
    EXPECT_EQ(cpusHeld({.cpuQuota = 3'000'000, .allowedCpus = CpuList::of({0, 1})}, std::nullopt), 2.0);
}

} // namespace
} // namespace pinfold
