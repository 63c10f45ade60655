// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/clock.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>

namespace pinfold {
namespace {

template <class A, class B> constexpr bool kComparable = requires(A a, B b) { a < b; };
template <class A, class B> constexpr bool kSubtractable = requires(A a, B b) { a - b; };

// The compiler must refuse to mix the times of two clocks, and must refuse to mix a time with a duration. The compiler must
// refuse a plain number in place of a time or a duration.
static_assert(!std::is_convertible_v<BootTime, RealTime> && !std::is_convertible_v<MonotonicTime, BootTime>);
static_assert(!kComparable<BootTime, RealTime> && !kSubtractable<RealTime, BootTime> && !kComparable<RealTime, Microseconds>);
static_assert(!std::is_convertible_v<std::uint64_t, Microseconds> && !std::is_convertible_v<std::uint64_t, RealTime>);
static_assert(!std::is_convertible_v<Microseconds, std::uint64_t> && !std::is_convertible_v<Microseconds, BootTime>);
static_assert(std::is_same_v<decltype(BootTime() - BootTime()), Microseconds>);
static_assert(std::is_same_v<decltype(RealTime() + 20ms), RealTime>);

TEST(Clock, everyNumberOfMicrosecondsComesBack) {
    for (const std::uint64_t usec : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{INT64_MAX}, UINT64_MAX - 1, UINT64_MAX}) {
        EXPECT_EQ(toUsec(fromUsec<Microseconds>(usec)), usec);
        EXPECT_EQ(toUsec(fromUsec<RealTime>(usec)), usec);
    }
    EXPECT_EQ(toUsec(kForever), UINT64_MAX);
    EXPECT_TRUE(kForever > 100 * 365 * 24h);
}

TEST(Clock, timeBetweenIsNeverNegative) {
    const BootTime noon(12h);
    EXPECT_EQ(toUsec(timeBetween(noon, noon + 3s)), 3'000'000U);
    EXPECT_EQ(toUsec(timeBetween(noon, noon)), 0U);
    EXPECT_EQ(toUsec(timeBetween(noon + 3s, noon)), 0U);
}

TEST(Clock, afterForeverIsTheLastTime) {
    const BootTime noon(12h);
    EXPECT_TRUE(after(noon, 5s) == noon + 5s);
    EXPECT_TRUE(after(noon, kForever) == BootTime::max());
    EXPECT_TRUE(after(noon, kForever - 1us) == BootTime::max());
}

TEST(Clock, theNodeBootedWhenTheBootTimeWasZero) {
    EXPECT_TRUE(bootedAt(RealTime(1'700'000'000s), BootTime(5min)) == RealTime(1'699'999'700s));
}

TEST(Clock, aTimespecHasSecondsAndNanoseconds) {
    const auto time = toTimespec(1500ms);
    EXPECT_EQ(time.tv_sec, 1);
    EXPECT_EQ(time.tv_nsec, 500'000'000);
}

} // namespace
} // namespace pinfold
