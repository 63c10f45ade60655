// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archive_service/request_turns.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace pinfold {
namespace {

constexpr uid_t kAlice = 1000;
constexpr uid_t kBob = 1001;
constexpr uid_t kCarol = 1002;

class RequestTurnsTest : public ::testing::Test {
protected:
    void add(uid_t uid, std::uint64_t id) { turns.add({.id = id, .user = uid, .request = nullptr}); }
    std::uint64_t takeAndFinish() {
        const auto item = turns.take();
        turns.finished(item->user);
        return item->id;
    }

    RequestTurns turns;
};

TEST_F(RequestTurnsTest, letsUsersTakeTurns) {
    for (std::uint64_t id = 1; id <= 4; ++id)
        add(kAlice, id);
    add(kBob, 11);
    add(kCarol, 21);
    add(kBob, 12);
    std::vector<std::uint64_t> order;
    for (int i = 0; i < 7; ++i)
        order.push_back(takeAndFinish());
    EXPECT_EQ(order, (std::vector<std::uint64_t>{1, 11, 21, 2, 12, 3, 4}));
}

TEST_F(RequestTurnsTest, givesOneUserOnlySomeOfTheThreads) {
    for (std::uint64_t id = 1; id <= 4; ++id)
        add(kAlice, id);
    for (std::size_t i = 0; i < RequestTurns::kMostAtOnce; ++i)
        EXPECT_EQ(turns.take()->user, kAlice);
    add(kBob, 11);
    EXPECT_EQ(turns.take()->id, 11U);
    turns.finished(kAlice);
    EXPECT_EQ(turns.take()->id, 3U);
}

TEST_F(RequestTurnsTest, aThreadThatWaitsTakesTheNextRequest) {
    std::uint64_t id = 0;
    std::thread thread([&] { id = takeAndFinish(); });
    add(kAlice, 7);
    thread.join();
    EXPECT_EQ(id, 7U);
}

TEST_F(RequestTurnsTest, forgetsARequestThatNobodyWaitsForAnyMore) {
    add(kAlice, 1);
    add(kAlice, 2);
    turns.remove(kAlice, 1);
    turns.remove(kBob, 1);
    EXPECT_EQ(takeAndFinish(), 2U);
}

TEST_F(RequestTurnsTest, endsTheThreadsWhenItCloses) {
    bool ended = false;
    std::thread thread([&] { ended = !turns.take(); });
    turns.close();
    thread.join();
    EXPECT_TRUE(ended);
}

} // namespace
} // namespace pinfold
