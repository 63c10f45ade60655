// SPDX-License-Identifier: LGPL-2.1-or-later
// In these tests, a close() hangs while the test holds back the background work.
#include "os/descriptor_closer.hpp"

#include "os/process.hpp"
#include "tests/support/cpp/manual_background.hpp"
#include "tests/support/cpp/pipe.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace pinfold::test {
namespace {

constexpr uid_t kAlice = 2001;
constexpr uid_t kBob = 2002;
constexpr std::size_t kMostOfUsers = 4 * DescriptorCloser::kMostPerUser;

bool isOpen(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

class DescriptorCloserTest : public ::testing::Test {
protected:
    DescriptorCloserTest() { background.hold(Lane::Descriptors); }

    void close(uid_t owner, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i)
            closer.close(owner, UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
    }
    std::size_t hanging() const { return background.hanging(Lane::Descriptors); }

    ManualEventLoop loop;
    ManualBackground background{loop};
    DescriptorCloser closer{background, kMostOfUsers};
};

/// Makes a TCP socket whose close() takes 20 s, because the other end does not receive all data.
struct LingeringSocket {
    LingeringSocket() {
        const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(::listen(listener.get(), 1), 0);
        EXPECT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
        ours = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        EXPECT_EQ(::connect(ours.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
        peer = UniqueFd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
        const std::string much(65536, 'x');
        while (::send(ours.get(), much.data(), much.size(), MSG_DONTWAIT) > 0) {
        }
        constexpr linger kLong{.l_onoff = 1, .l_linger = 20};
        EXPECT_EQ(::setsockopt(ours.get(), SOL_SOCKET, SO_LINGER, &kLong, sizeof kLong), 0);
    }
    UniqueFd ours;
    UniqueFd peer;
};

} // namespace

TEST_F(DescriptorCloserTest, aSocketThatLingersIsClosedAtOnce) {
    LingeringSocket socket;
    const int fd = socket.ours.get();
    closer.close(kAlice, std::move(socket.ours));
    const auto begun = std::chrono::steady_clock::now();
    background.release(Lane::Descriptors);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
    EXPECT_FALSE(isOpen(fd));
}

TEST_F(DescriptorCloserTest, nothingIsClosedByTheCaller) {
    Pipe pipe;
    const int fd = pipe.writer.get();
    closer.close(kAlice, std::move(pipe.writer));
    EXPECT_TRUE(isOpen(fd)) << "a pipe too: its lock may be held by a writer that hangs";
    background.release(Lane::Descriptors);
    EXPECT_FALSE(isOpen(fd));
}

TEST_F(DescriptorCloserTest, butAPidfd) {
    auto pidfd = *openPidfd(::getpid());
    const int fd = pidfd.get();
    EXPECT_TRUE(isPidfd(fd));
    closer.close(kAlice, std::move(pidfd));
    EXPECT_FALSE(isOpen(fd));
    EXPECT_EQ(hanging(), 0U);
}

TEST_F(DescriptorCloserTest, oneUsersThreadsAreFew) {
    close(kAlice, 100);
    EXPECT_EQ(hanging(), DescriptorCloser::kThreadsPerUser);
    close(kBob, 1);
    EXPECT_EQ(hanging(), DescriptorCloser::kThreadsPerUser + 1);
}

TEST_F(DescriptorCloserTest, usersTogetherLeaveThreadsToRoot) {
    for (uid_t uid = 2000; uid < 2100; ++uid)
        close(uid, 100);
    EXPECT_EQ(hanging(), DescriptorCloser::kThreadsOfUsers);

    close(0, 1);
    EXPECT_EQ(hanging(), DescriptorCloser::kThreadsOfUsers + 1);
}

TEST_F(DescriptorCloserTest, whoHandsOverWhatDoesNotCloseIsOverloadedUntilItDoes) {
    for (uid_t uid = 2000; uid < 2100; ++uid)
        close(uid, uid == kAlice ? DescriptorCloser::kMostPerUser : 1);
    EXPECT_TRUE(closer.overloaded(kAlice));
    EXPECT_FALSE(closer.overloaded(kBob));
    close(0, DescriptorCloser::kMostPerUser);
    EXPECT_FALSE(closer.overloaded(0)) << "root never is";
    close(2099, DescriptorCloser::kMostPerUser);
    EXPECT_FALSE(closer.overloaded(2099)) << "it is others whose threads hang";
    background.release(Lane::Descriptors);
    loop.settle();
    EXPECT_FALSE(closer.overloaded(kAlice));
    EXPECT_EQ(hanging(), 0U);
}

TEST_F(DescriptorCloserTest, usersTogetherLeaveDescriptorsToRoot) {
    close(0, kMostOfUsers);
    close(kAlice, 1);
    EXPECT_FALSE(closer.overloaded(kBob));
    for (uid_t uid = 2100; uid < 2104; ++uid)
        close(uid, DescriptorCloser::kMostPerUser);
    EXPECT_TRUE(closer.overloaded(kBob)) << "who has none there, too";
    EXPECT_FALSE(closer.overloaded(0));
    background.release(Lane::Descriptors);
    loop.settle();
    EXPECT_FALSE(closer.overloaded(kBob));
}

TEST_F(DescriptorCloserTest, whatWaitsIsClosedInTheEnd) {
    std::vector<int> fds;
    for (int i = 0; i < 20; ++i) {
        fds.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        closer.close(kAlice, UniqueFd(fds.back()));
    }
    background.release(Lane::Descriptors);
    loop.settle();
    for (const int fd : fds)
        EXPECT_FALSE(isOpen(fd));
}

TEST_F(DescriptorCloserTest, aForeignDescriptorGoesToItsCloserFromWhereverItIsDropped) {
    Pipe pipe;
    const int fd = pipe.writer.get();
    {
        ForeignFd first(closer, kAlice, std::move(pipe.writer));
        ForeignFd second;
        second = std::move(first);
        EXPECT_EQ(hanging(), 0U);
    }
    EXPECT_EQ(hanging(), 1U);
    EXPECT_TRUE(isOpen(fd));
}

} // namespace pinfold::test
