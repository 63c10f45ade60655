// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/message_queue.hpp"

#include "os/sd_event_loop.hpp"
#include "os/thread_background.hpp"
#include "tests/support/cpp/manual_background.hpp"
#include "tests/support/cpp/manual_event_loop.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pinfold::test {
namespace {

class Messages : public ::testing::Test {
protected:
    void say(const std::string& text, std::size_t bytes = 100) {
        queue->add(bytes, [this, text] { written.push_back(text); });
    }
    void hold() { background.hold(Lane::Journal); }
    void release() {
        background.release(Lane::Journal);
        loop.settle();
    }

    ManualEventLoop loop;
    ManualBackground background{loop};
    std::vector<std::string> written;
    std::optional<MessageQueue> queue{std::in_place, background};
};

} // namespace

TEST_F(Messages, areWrittenInTheirOrder) {
    hold();
    say("one");
    say("two");
    EXPECT_TRUE(written.empty());
    release();
    say("three");
    EXPECT_EQ(written, (std::vector<std::string>{"one", "two", "three"}));
}

TEST_F(Messages, thatDoNotFitAreCountedAndToldOnceThereIsRoom) {
    queue->onLost = [this](std::uint64_t count) { say(std::to_string(count) + " lost"); };
    hold();
    say("large", MessageQueue::kMostBytes - 100);
    say("small");
    say("too much");
    say("too much");
    release();
    EXPECT_EQ(written, (std::vector<std::string>{"large", "small"}));
    say("after");
    say("later");
    EXPECT_EQ(written, (std::vector<std::string>{"large", "small", "2 lost", "after", "later"}));
}

TEST_F(Messages, areWrittenBeforeTheEnd) {
    queue.reset();
    SdEventLoop real([](const std::string&) {});
    ThreadBackground threads(real);
    // The queue waits for its thread for at most kFlush. If the machine stops the thread for that time, the test tries again.
    for (int attempt = 0; attempt < 10; ++attempt) {
        std::promise<void> go;
        const auto done = std::make_shared<std::atomic<int>>(0);
        std::chrono::steady_clock::time_point end;
        {
            MessageQueue last(threads);
            last.add(1, [waits = std::make_shared<std::future<void>>(go.get_future())] { waits->wait(); });
            for (int i = 0; i < 100; ++i)
                last.add(1, [done] { ++*done; });
            go.set_value();
            end = std::chrono::steady_clock::now() + std::chrono::microseconds(MessageQueue::kFlush);
        }
        if (*done == 100)
            return;
        ASSERT_GE(std::chrono::steady_clock::now(), end) << "the queue has not waited for the other messages";
    }
    FAIL() << "the thread never writes the messages in time";
}

// A journal that hangs must not prevent the end of pinfoldd.
TEST_F(Messages, areNotWaitedForForEver) {
    SdEventLoop real([](const std::string&) {});
    ThreadBackground threads(real);
    std::promise<void> go;
    const auto begun = std::chrono::steady_clock::now();
    {
        MessageQueue last(threads);
        last.add(1, [waits = std::make_shared<std::future<void>>(go.get_future())] { waits->wait(); });
    }
    EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::microseconds(MessageQueue::kFlush));
    go.set_value();
}

} // namespace pinfold::test
