// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/loop_meter.hpp"

#include "base/clock.hpp"
#include "os/sd_event_loop.hpp"

#include <gtest/gtest.h>

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace pinfold::test {
namespace {

void sleepInACall() {
    const timespec time{0, 150'000'000};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

void beBusy() {
    timespec now{};
    const auto ran = [&] {
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return now.tv_sec * 1'000'000'000 + now.tv_nsec;
    };
    for (const auto begun = ran(); ran() - begun < 150'000'000;) {
    }
}

bool readsAreSlow = false;

std::vector<std::string> logOf(SdEventLoop::Meter meter, void (*work)()) {
    std::vector<std::string> log;
    SdEventLoop loop([&](const std::string& line) { log.push_back(line); }, meter);
    const auto handle = loop.whenIdle([&] {
        work();
        loop.quit(0);
    });
    EXPECT_EQ(loop.run(), 0);
    return log;
}

} // namespace
} // namespace pinfold::test

/// Replaces the C library's pread() in the test program, so that a test can stop the thread while the meter reads schedstat.
extern "C" ssize_t pread(int fd, void* buffer, std::size_t size, off_t offset) {
    if (pinfold::test::readsAreSlow)
        pinfold::test::sleepInACall();
    return ::syscall(SYS_pread64, fd, buffer, size, offset);
}

namespace pinfold::test {

TEST(LoopMeter, aTurnThatSleepsIsSaidWithItsHandler) {
    const auto begun = MonotonicClock::now();
    const auto log = logOf(SdEventLoop::Meter::On, &sleepInACall);
    const auto took = MonotonicClock::now() - begun;
    ASSERT_EQ(log.size(), 1U);
    // If the machine stops while the thread sleeps, the thread sleeps longer than it wanted to.
    unsigned waited = 0;
    ASSERT_EQ(std::sscanf(log[0].c_str(), "the loop waited %u ms in a system call, in ", &waited), 1) << log[0];
    EXPECT_GE(waited, 100U) << log[0];
    EXPECT_LE(waited, took / 1ms) << log[0];
    EXPECT_NE(log[0].find("logOf"), std::string::npos) << log[0];
}

TEST(LoopMeter, withoutAMeterNothingIsSaid) { EXPECT_TRUE(logOf(SdEventLoop::Meter::Off, &sleepInACall).empty()); }

TEST(LoopMeter, aStopWhileTheMeterBeginsIsNoWait) {
    LoopMeter meter;
    readsAreSlow = true;
    meter.begin();
    readsAreSlow = false;
    EXPECT_LT(meter.slept(), LoopMeter::kTooLong);
}

// If the machine is busy but no call blocks, the meter must report nothing. To make the machine busy, the test starts two threads
// per processor.
TEST(LoopMeter, workIsNoWait) {
    std::vector<std::thread> others;
    for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i)
        others.emplace_back(&beBusy);
    EXPECT_TRUE(logOf(SdEventLoop::Meter::On, &beBusy).empty());
    for (auto& other : others)
        other.join();
}

} // namespace pinfold::test
