// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/notify_socket.hpp"

#include "tests/support/cpp/manual_event_loop.hpp"
#include "tests/support/cpp/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace pinfold::test {
namespace {

constexpr int kMostMs = 10'000;

sockaddr_un addressOf(const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, sizeof address.sun_path - 1);
    if (name.starts_with('@'))
        address.sun_path[0] = '\0';
    return address;
}

/// Stands in for PID 1. Reads a message only when the test calls read().
class NotifySocketTest : public TemporaryDirectory {
protected:
    ~NotifySocketTest() override {
        ::unsetenv("NOTIFY_SOCKET");
        ::unsetenv("WATCHDOG_USEC");
    }
    void listen(const std::string& name) {
        const auto address = addressOf(name);
        systemd.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
        ASSERT_EQ(::bind(systemd.get(), reinterpret_cast<const sockaddr*>(&address), length), 0) << std::strerror(errno);
        ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    }
    /// Sends messages to the socket until the queue of the socket is full.
    void fill() {
        const auto address = addressOf(path);
        filler.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        ASSERT_EQ(::connect(filler.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        while (::send(filler.get(), "X=1", 3, 0) == 3) {
        }
        ASSERT_EQ(errno, EAGAIN);
        ::alarm(kMostMs / 1000); // without the alarm, a call that blocks would never return
    }
    std::vector<std::string> read() const {
        std::vector<std::string> texts;
        char text[4096];
        for (ssize_t length = 0; (length = ::recv(systemd.get(), text, sizeof text, 0)) >= 0;)
            if (std::string said(text, static_cast<std::size_t>(length)); said != "X=1")
                texts.push_back(std::move(said));
        return texts;
    }

    using Texts = std::vector<std::string>;
    std::string path = top() / "notify";
    ManualEventLoop loop;
    UniqueFd systemd;
    UniqueFd filler;
};

} // namespace

TEST_F(NotifySocketTest, tellsSystemd) {
    listen(path);
    NotifySocket notify(loop);
    EXPECT_TRUE(notify.state("READY=1"));
    notify.status("2 jobs");
    EXPECT_EQ(read(), (Texts{"READY=1", "STATUS=2 jobs"}));
}

TEST_F(NotifySocketTest, theSocketMayBeAbstract) {
    listen("@pinfold-notify-test-" + std::to_string(::getpid()));
    NotifySocket notify(loop);
    EXPECT_TRUE(notify.state("READY=1"));
    EXPECT_EQ(read(), Texts{"READY=1"});
}

TEST_F(NotifySocketTest, aFullSocketHoldsUpNobodyAndGetsTheNewestTextsLater) {
    listen(path);
    NotifySocket notify(loop);
    fill();
    EXPECT_TRUE(notify.state("READY=1"));
    notify.status("1 job");
    notify.status("2 jobs");
    EXPECT_FALSE(loop.waitForEvent(0)) << "a loop that waits for room does not run in circles";
    EXPECT_EQ(read(), Texts());
    EXPECT_TRUE(loop.waitForEvent(kMostMs));
    EXPECT_EQ(read(), (Texts{"READY=1", "STATUS=2 jobs"}));
    EXPECT_FALSE(loop.waitForEvent(0));
    ::alarm(0);
}

TEST_F(NotifySocketTest, theWatchdogIsFedTwiceInItsTime) {
    ::setenv("WATCHDOG_USEC", "30000000", 1);
    listen(path);
    NotifySocket notify(loop);
    notify.startWatchdog();
    EXPECT_EQ(read(), Texts{"WATCHDOG=1"});
    loop.advance(14s);
    EXPECT_EQ(read(), Texts());
    loop.advance(17s);
    EXPECT_EQ(read(), (Texts{"WATCHDOG=1", "WATCHDOG=1"}));
    fill();
    loop.advance(60s);
    EXPECT_EQ(read(), Texts());
    EXPECT_TRUE(loop.waitForEvent(kMostMs));
    EXPECT_EQ(read(), Texts{"WATCHDOG=1"}) << "as soon as there is room";
    ::alarm(0);
}

TEST_F(NotifySocketTest, withoutAWatchdogNothingIsTold) {
    listen(path);
    NotifySocket notify(loop);
    notify.startWatchdog();
    loop.advance(60s);
    EXPECT_EQ(read(), Texts());
}

TEST_F(NotifySocketTest, aSocketThatReplacesTheOldOneIsFound) {
    listen(path);
    NotifySocket notify(loop);
    notify.status("1 job");
    systemd.reset();
    EXPECT_FALSE(notify.state("READY=1"));
    ASSERT_EQ(::unlink(path.c_str()), 0);
    listen(path);
    notify.status("2 jobs");
    EXPECT_EQ(read(), (Texts{"READY=1", "STATUS=2 jobs"}));
    systemd.reset();
    ASSERT_EQ(::unlink(path.c_str()), 0);
    listen(path);
    notify.status("3 jobs");
    EXPECT_EQ(read(), Texts{"STATUS=3 jobs"});
}

TEST_F(NotifySocketTest, withoutASocketNobodyIsTold) {
    ::unsetenv("NOTIFY_SOCKET");
    NotifySocket none(loop);
    EXPECT_TRUE(none.state("READY=1"));
    ::setenv("NOTIFY_SOCKET", (top() / std::string(200, 'x')).c_str(), 1);
    NotifySocket tooLong(loop);
    EXPECT_FALSE(tooLong.state("READY=1"));
    ::setenv("NOTIFY_SOCKET", (top() / "missing").c_str(), 1);
    NotifySocket missing(loop);
    EXPECT_FALSE(missing.state("READY=1"));
}

} // namespace pinfold::test
