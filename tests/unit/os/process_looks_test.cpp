// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/process_looks.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace pinfold::test {
namespace {

using namespace std::chrono_literals;

class ProcessLooksTest : public ::testing::Test {
protected:
    /// Starts to read a process. The read returns when the test gives `gate` a value.
    static Result<int> hang(ProcessLooks& looks, pid_t pid, uid_t user, const std::shared_future<void>& gate) {
        return looks.into(pid, user, [gate]() -> Result<int> {
            gate.wait();
            return 0;
        });
    }
    static Result<int> see(ProcessLooks& looks, pid_t pid, uid_t user) {
        return looks.into(pid, user, [pid]() -> Result<int> { return pid; });
    }
    /// Calls see() again and again for one minute, until a call succeeds. After the test has set `gate`, a thread on a busy
    /// machine needs some time to end its read.
    static bool seesInTime(ProcessLooks& looks, pid_t pid, uid_t user) {
        for (const auto end = std::chrono::steady_clock::now() + 1min; std::chrono::steady_clock::now() < end;) {
            if (see(looks, pid, user))
                return true;
            std::this_thread::yield();
        }
        return false;
    }
    void TearDown() override {
        if (!opened)
            open.set_value();
    }

    /// Even on a busy machine, kPatience is long enough for a read that does not hang. All reads of one user's processes together
    /// take at most 30 s.
    static constexpr auto kPatience = 500ms;

    std::promise<void> open;
    bool opened = false;
    std::shared_future<void> gate = open.get_future().share();
};

} // namespace

TEST_F(ProcessLooksTest, whatIsSeenComesBack) {
    ProcessLooks looks(1min);
    EXPECT_EQ(*see(looks, 7, 1000), 7);
    const auto failed = looks.into(8, 1000, []() -> Result<int> { return Error{ErrorCode::PidGone, "gone"}; });
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message, "gone");
}

TEST_F(ProcessLooksTest, whatHangsIsSaidAndTheRestIsSeen) {
    ProcessLooks looks(kPatience);
    const auto hung = hang(looks, 7, 1000, gate);
    ASSERT_FALSE(hung);
    EXPECT_EQ(hung.error().code, ErrorCode::TimedOut);
    EXPECT_EQ(hung.error().message, "process 7 of user 1000 cannot be examined: it hangs, and did not answer within 0.500 s");
    ASSERT_TRUE(seesInTime(looks, 8, 1000)) << "by a thread of its own";
}

TEST_F(ProcessLooksTest, oneUserHasAFewThreadsHangAndTheOthersGoOn) {
    const auto ids = parseSubordinateIds("alice:100000:65536\n");
    ProcessLooks looks(kPatience, ids);
    for (uid_t id = 0; id < ProcessLooks::kMostOfOne; ++id)
        EXPECT_EQ(hang(looks, static_cast<pid_t>(10 + id), 100000 + id, gate).error().code, ErrorCode::TimedOut);
    const auto refused = hang(looks, 20, 165535, gate);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Busy);
    EXPECT_EQ(refused.error().message,
              "process 20 of user 165535 was not examined: 4 examinations of this user's processes still hang");
    EXPECT_TRUE(seesInTime(looks, 21, 165536)) << "that id is not alice's";
}

TEST_F(ProcessLooksTest, theSameProcessIsNotLookedIntoTwice) {
    ProcessLooks looks(20ms);
    EXPECT_EQ(hang(looks, 7, 1000, gate).error().code, ErrorCode::TimedOut);
    EXPECT_EQ(hang(looks, 7, 1000, gate).error().code, ErrorCode::Busy);
}

TEST_F(ProcessLooksTest, manyUsersTogetherDoNotKeepRootsFromBeingSeen) {
    ProcessLooks looks(1ms);
    std::size_t hung = 0;
    for (uid_t user = 1000; user < 1100; ++user)
        hung += hang(looks, static_cast<pid_t>(user), user, gate).error().code == ErrorCode::TimedOut ? 1 : 0;
    EXPECT_EQ(hung, ProcessLooks::kMostOfUsers);
    EXPECT_EQ(hang(looks, 1, 0, gate).error().code, ErrorCode::TimedOut);
}

TEST_F(ProcessLooksTest, oneUsersProcessesTakeSoMuchTimeTogether) {
    ProcessLooks looks(1min, parseSubordinateIds("1000:100000:65536\n"), 50ms);
    const auto slow = [&looks](pid_t pid, uid_t user) {
        return looks.into(pid, user, []() -> Result<int> {
            for (const auto end = std::chrono::steady_clock::now() + 20ms; std::chrono::steady_clock::now() < end;)
                std::this_thread::yield();
            return 0;
        });
    };
    int made = 0;
    while (slow(made, made % 2 == 0 ? 1000 : 100000) && made < 100)
        ++made;
    EXPECT_LE(made, 3);
    EXPECT_EQ(slow(7, 1000).error().code, ErrorCode::Busy);
    EXPECT_EQ(slow(7, 1000).error().message,
              "process 7 of user 1000 was not examined: examinations of processes of this user have taken 0.050 s already");
    EXPECT_TRUE(slow(8, 1001)) << "another user";
    for (pid_t pid = 10; pid < 20; ++pid)
        EXPECT_TRUE(slow(pid, 0)) << "who cannot look into root's processes cannot remove anything";
}

TEST_F(ProcessLooksTest, whatComesBackLaterCountsNoMore) {
    ProcessLooks looks(kPatience);
    for (pid_t pid = 10; pid < 14; ++pid)
        EXPECT_FALSE(hang(looks, pid, 1000, gate));
    opened = true;
    open.set_value();
    EXPECT_TRUE(seesInTime(looks, 10, 1000));
}

} // namespace pinfold::test
