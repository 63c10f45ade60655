// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/thread_background.hpp"

#include "tests/support/cpp/manual_event_loop.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pinfold::test {
namespace {

constexpr int kLongestWaitMs = 10'000;

class BackgroundTest : public ::testing::Test {
protected:
    void waitFor(const std::function<bool()>& reached) {
        while (!reached())
            ASSERT_TRUE(loop.waitForEvent(kLongestWaitMs)) << "nothing came";
    }

    ManualEventLoop loop;
    std::optional<ThreadBackground> background{std::in_place, loop};
};

/// Makes a call that returns only when the test releases the call, or when the test ends.
struct Hanging {
    std::promise<void> gate;
    std::shared_future<void> opened{gate.get_future()};
    std::function<void()> work() const {
        return [opened = opened] { opened.wait(); };
    }
};

} // namespace

TEST_F(BackgroundTest, theResultComesToTheLoopsThread) {
    const auto here = std::this_thread::get_id();
    std::optional<std::thread::id> worker;
    std::optional<std::thread::id> completed;
    ASSERT_TRUE(background->ask(
        Lane::Files, [] { return std::this_thread::get_id(); },
        [&](std::thread::id id) {
            worker = id;
            completed = std::this_thread::get_id();
        }));
    waitFor([&] { return completed.has_value(); });
    EXPECT_NE(*worker, here);
    EXPECT_EQ(*completed, here);
}

TEST_F(BackgroundTest, aLaneWithOneThreadKeepsTheOrder) {
    auto order = std::make_shared<std::vector<int>>(); // only one thread at a time writes to the list
    std::size_t done = 0;
    for (int i = 0; i < 50; ++i)
        ASSERT_TRUE(background->run(
            Lane::Journal, [order, i] { order->push_back(i); }, [&done] { ++done; }));
    waitFor([&] { return done == 50; });
    for (int i = 0; i < 50; ++i)
        EXPECT_EQ((*order)[static_cast<std::size_t>(i)], i);
}

// After each message, the thread of the lane Journal pauses. During the pause, a new message does not wake the thread.
TEST_F(BackgroundTest, aMessageThatComesWhileTheJournalsThreadRestsIsWritten) {
    for (int i = 0; i < 3; ++i) {
        bool done = false;
        ASSERT_TRUE(background->run(
            Lane::Journal, [] {}, [&done] { done = true; }));
        waitFor([&done] { return done; });
    }
}

TEST_F(BackgroundTest, workThatNobodyWaitsForWakesNobody) {
    std::promise<void> behindIt;
    ASSERT_TRUE(background->run(
        Lane::Files, [] {}, nullptr));
    ASSERT_TRUE(background->run(
        Lane::Files, [&behindIt] { behindIt.set_value(); }, nullptr));
    behindIt.get_future().wait();
    EXPECT_FALSE(loop.waitForEvent(0));
}

TEST_F(BackgroundTest, whatHangsInOneLaneHoldsUpNoOther) {
    Hanging hanging;
    bool hungDone = false;
    bool otherDone = false;
    ASSERT_TRUE(background->run(Lane::HistoryWrite, hanging.work(), [&] { hungDone = true; }));
    ASSERT_TRUE(background->run(
        Lane::Names, [] {}, [&] { otherDone = true; }));
    waitFor([&] { return otherDone; });
    EXPECT_FALSE(hungDone);
    hanging.gate.set_value();
    waitFor([&] { return hungDone; });
}

TEST_F(BackgroundTest, aLaneTakesNoMoreThanItsBound) {
    Hanging hanging;
    const auto bound = Background::boundOf(Lane::Names);
    std::size_t done = 0;
    for (std::size_t i = 0; i < bound.threads + bound.queued; ++i) {
        auto begun = std::make_shared<std::promise<void>>();
        auto started = begun->get_future();
        ASSERT_TRUE(background->run(
            Lane::Names,
            [begun, opened = hanging.opened] {
                begun->set_value();
                opened.wait();
            },
            [&done] { ++done; }));
        if (i < bound.threads) // work occupies a place in the queue until a thread begins the work
            started.wait();
    }
    std::vector<Lane> told;
    background->onRefused = [&](Lane lane) {
        told.push_back(lane);
        EXPECT_TRUE(background->run(
            Lane::Journal, [] {}, nullptr));
    };
    EXPECT_FALSE(background->run(
        Lane::Names, [] {}, [] {}));
    EXPECT_EQ(background->refused(Lane::Names), 1U);
    EXPECT_EQ(told, std::vector<Lane>{Lane::Names});
    hanging.gate.set_value();
    waitFor([&] { return done == bound.threads + bound.queued; });
    bool again = false;
    EXPECT_TRUE(background->run(
        Lane::Names, [] {}, [&] { again = true; }));
    waitFor([&] { return again; });
}

TEST_F(BackgroundTest, anExceptionCostsNoOtherItsCompletion) {
    bool goesOn = false;
    std::promise<void> behindThem;
    ASSERT_TRUE(background->run(
        Lane::Files, [] {}, [] { throw std::runtime_error("no memory"); }));
    ASSERT_TRUE(background->run(
        Lane::Files, [] {}, [&goesOn] { goesOn = true; }));
    ASSERT_TRUE(background->run(
        Lane::Files, [&behindThem] { behindThem.set_value(); }, nullptr));
    behindThem.get_future().wait();
    EXPECT_THROW(loop.waitForEvent(kLongestWaitMs), std::runtime_error);
    waitFor([&] { return goesOn; });
}

TEST_F(BackgroundTest, itEndsWhileACallHangs) {
    Hanging hanging;
    std::promise<void> begun;
    ASSERT_TRUE(background->run(
        Lane::Files,
        [&begun, opened = hanging.opened] {
            begun.set_value();
            opened.wait();
        },
        [] { ADD_FAILURE() << "the loop is gone"; }));
    begun.get_future().wait();
    background.reset();
    hanging.gate.set_value();
    EXPECT_FALSE(loop.waitForEvent(0));
}

TEST_F(BackgroundTest, whatACompletionOwnsGoesWhenItIsForgotten) {
    Hanging hanging;
    const auto owned = std::make_shared<int>();
    for (int i = 0; i < 2; ++i) // the second call waits for the end of the first call
        ASSERT_TRUE(background->run(Lane::Names, hanging.work(), [owned] { ADD_FAILURE() << "forgotten"; }));
    EXPECT_EQ(owned.use_count(), 3);
    background->forget();
    EXPECT_EQ(owned.use_count(), 1);
    hanging.gate.set_value();
    bool goesOn = false;
    EXPECT_TRUE(background->run(
        Lane::Names, [] {}, [&] { goesOn = true; }));
    waitFor([&] { return goesOn; });
}

TEST_F(BackgroundTest, whatGoesWhenItIsForgottenMayAskForMore) {
    Hanging hanging;
    bool goesOn = false;
    // The object `owned` acts as a connection that waits for an answer. When a waiting connection ends, its descriptor is closed
    // in the background.
    std::shared_ptr<void> owned(nullptr, [&](void*) {
        EXPECT_TRUE(background->run(
            Lane::Descriptors, [] {}, [&goesOn] { goesOn = true; }));
    });
    ASSERT_TRUE(background->run(Lane::HistoryRead, hanging.work(), [owned = std::move(owned)] { ADD_FAILURE() << "forgotten"; }));
    background->forget();
    hanging.gate.set_value();
    waitFor([&] { return goesOn; });
}

TEST_F(BackgroundTest, signalsAreTheLoopsAlone) {
    std::optional<bool> blocked;
    ASSERT_TRUE(background->ask(
        Lane::Files,
        [] {
            sigset_t mask;
            ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
            return sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGHUP) == 1;
        },
        [&](bool answer) { blocked = answer; }));
    waitFor([&] { return blocked.has_value(); });
    EXPECT_TRUE(*blocked);
}

} // namespace pinfold::test
