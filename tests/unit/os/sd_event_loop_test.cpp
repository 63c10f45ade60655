// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/sd_event_loop.hpp"

#include "base/unique_fd.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <stdexcept>
#include <string>
#include <vector>

namespace pinfold::test {
namespace {

constexpr Microseconds kDeadline = 10s;
constexpr int kTooLate = 99;

struct WakingPipe {
    WakingPipe() {
        int ends[2] = {-1, -1};
        EXPECT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
        in.reset(ends[0]);
        out.reset(ends[1]);
    }
    void send() const { EXPECT_EQ(::write(out.get(), "x", 1), 1); }
    void take() const {
        char byte = 0;
        EXPECT_EQ(::read(in.get(), &byte, 1), 1);
    }
    UniqueFd in;
    UniqueFd out;
};

class Loop : public ::testing::Test {
protected:
    Loop()
        : loop([this](const std::string& line) { log.push_back(line); }),
          deadline(loop.after(kDeadline, [this] { loop.quit(kTooLate); })) {}

    std::vector<std::string> log;
    SdEventLoop loop;
    EventHandle deadline;
};

} // namespace

TEST_F(Loop, runGivesTheStatusOfQuit) {
    const auto handle = loop.whenIdle([this] { loop.quit(7); });
    EXPECT_EQ(loop.run(), 7);
}

TEST_F(Loop, aReadableDescriptorIsToldUntilItIsRead) {
    const WakingPipe pipe;
    pipe.send();
    int told = 0;
    const auto handle = loop.onReadable(pipe.in.get(), [&] {
        if (++told == 3) {
            pipe.take();
            loop.quit(0);
        }
    });
    EXPECT_EQ(loop.run(), 0);
    EXPECT_EQ(told, 3);
}

TEST_F(Loop, aHangUpIsReadable) {
    WakingPipe pipe;
    const auto handle = loop.onReadable(pipe.in.get(), [this] { loop.quit(0); });
    pipe.out.reset();
    EXPECT_EQ(loop.run(), 0);
}

TEST_F(Loop, aTimerFiresOnceAndNotEarly) {
    const auto start = loop.bootTime();
    int told = 0;
    BootTime fired{};
    const auto handle = loop.after(20ms, [&] {
        ++told;
        fired = loop.bootTime();
    });
    const auto end = loop.after(60ms, [this] { loop.quit(0); });
    EXPECT_EQ(loop.run(), 0);
    EXPECT_EQ(told, 1);
    EXPECT_GE(fired, start + 20ms);
}

// While the loop handles a round of events, the loop's own clock shows the time at which the round began.
TEST_F(Loop, aTimerSetInASlowHandlerIsNotEarly) {
    BootTime set{};
    BootTime fired{};
    EventHandle timer;
    const auto slow = loop.after(1us, [&] {
        for (const auto begun = loop.bootTime(); loop.bootTime() - begun < 30ms;) {
        }
        set = loop.bootTime();
        timer = loop.after(50ms, [&] {
            fired = loop.bootTime();
            loop.quit(0);
        });
    });
    EXPECT_EQ(loop.run(), 0);
    EXPECT_GE(fired - set, 50ms);
}

TEST_F(Loop, aDelayBeyondAllTimeIsOnlyFarAway) {
    const auto never = loop.after(kForever, [this] { loop.quit(1); });
    const auto almost = loop.after(kForever - 1us, [this] { loop.quit(1); });
    const auto now = loop.after(0s, [this] { loop.quit(0); });
    EXPECT_EQ(loop.run(), 0);
}

TEST_F(Loop, idleWorkComesOnceAndAfterAllThatIsPending) {
    std::string order;
    const WakingPipe one;
    const WakingPipe two;
    one.send();
    two.send();
    const auto idle = loop.whenIdle([&] {
        order += 'i';
        loop.quit(0);
    });
    const auto first = loop.onReadable(one.in.get(), [&] {
        one.take();
        order += 'r';
    });
    const auto second = loop.onReadable(two.in.get(), [&] {
        two.take();
        order += 'r';
    });
    EXPECT_EQ(loop.run(), 0);
    EXPECT_EQ(order, "rri");
}

TEST_F(Loop, idleWorkComesThoughSomethingIsAlwaysPending) {
    const WakingPipe flooded;
    flooded.send();
    int told = 0;
    const auto flood = loop.onReadable(flooded.in.get(), [&] {
        if (++told == 10'000)
            loop.quit(1);
    });
    const auto idle = loop.whenIdle([this] { loop.quit(0); });
    EXPECT_EQ(loop.run(), 0);
    EXPECT_GT(told, 200) << "many jobs that end together share a transaction";
}

TEST_F(Loop, aDestroyedHandleIsSilent) {
    const WakingPipe pipe;
    pipe.send();
    bool told = false;
    auto readable = loop.onReadable(pipe.in.get(), [&] { told = true; });
    auto timer = loop.after(0s, [&] { told = true; });
    auto idle = loop.whenIdle([&] { told = true; });
    readable.reset();
    timer.reset();
    idle.reset();
    const auto end = loop.after(10ms, [this] { loop.quit(0); });
    EXPECT_EQ(loop.run(), 0);
    EXPECT_FALSE(told);
}

TEST_F(Loop, aHandlerMayDestroyItsOwnHandle) {
    const WakingPipe pipe;
    pipe.send();
    int told = 0;
    EventHandle readable;
    EventHandle timer;
    EventHandle idle;
    const auto endAndCount = [&](EventHandle& handle) {
        return [&, alive = std::make_shared<int>(1)] {
            handle.reset();
            told += *alive;
            if (told == 3)
                loop.quit(0);
        };
    };
    readable = loop.onReadable(pipe.in.get(), endAndCount(readable));
    timer = loop.after(0s, endAndCount(timer));
    idle = loop.whenIdle(endAndCount(idle));
    EXPECT_EQ(loop.run(), 0);
    EXPECT_EQ(told, 3);
}

TEST_F(Loop, anExceptionIsLoggedAndTheLoopGoesOn) {
    const WakingPipe pipe;
    pipe.send();
    int told = 0;
    EventHandle end;
    EventHandle bad = loop.onReadable(pipe.in.get(), [&] {
        if (++told == 2) {
            // An emulator can need more than 10 ms to throw an exception, so the handler starts the timer only in its second
            // call.
            end = loop.after(10ms, [this] { loop.quit(3); });
            bad.reset(); // in its second call, the handler removes its own event
        }
        throw std::runtime_error("no such luck");
    });
    const auto odd = loop.after(0s, [] { throw 5; });
    EXPECT_EQ(loop.run(), 3);
    EXPECT_EQ(told, 2);
    std::sort(log.begin(), log.end());
    EXPECT_EQ(log, (std::vector<std::string>{"unexpected error: an unknown exception", "unexpected error: no such luck",
                                             "unexpected error: no such luck"}));
}

TEST_F(Loop, anExceptionEndsALoopThatShallQuitAtIt) {
    loop.quitAtException(7);
    const auto bad = loop.after(0s, [] { throw std::runtime_error("no such luck"); });
    EXPECT_EQ(loop.run(), 7);
    EXPECT_EQ(log, (std::vector<std::string>{"unexpected error: no such luck"}));
}

TEST_F(Loop, aSignalIsBlockedAndTold) {
    int told = 0;
    const auto handle = loop.onSignal(SIGUSR1, [&] {
        ++told;
        loop.quit(0);
    });
    ASSERT_EQ(::kill(::getpid(), SIGUSR1), 0); // SIGUSR1 would end the test process if SIGUSR1 were not blocked
    EXPECT_EQ(loop.run(), 0);
    EXPECT_EQ(told, 1);
}

TEST_F(Loop, aDescriptorThatIsNoneThrows) {
    EXPECT_THROW((void)loop.onReadable(-1, [] {}), std::system_error);
}

TEST_F(Loop, theClocksAreTheKernels) {
    const RealTime before(std::chrono::seconds(::time(nullptr)));
    EXPECT_GE(loop.realTime(), before - 1s);
    const auto boot = loop.bootTime();
    EXPECT_GT(boot, BootTime());
    EXPECT_LE(boot, loop.bootTime());
    EXPECT_LT(toUsec(boot), toUsec(loop.realTime()));
    const auto spent = loop.cpuTime();
    const auto end = loop.after(50ms, [this] { loop.quit(0); });
    EXPECT_EQ(loop.run(), 0);
    EXPECT_GE(loop.bootTime() - boot, 50ms);
    EXPECT_LT(loop.cpuTime() - spent, 25ms) << "waiting costs nothing";
}

} // namespace pinfold::test
