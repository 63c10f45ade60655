// SPDX-License-Identifier: LGPL-2.1-or-later
#include "socket_client/daemon_link.hpp"

#include "base/deadline.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace pinfold {
namespace {

class DaemonLinkTest : public ::testing::Test {
protected:
    DaemonLinkTest() {
        std::string name = (std::filesystem::temp_directory_path() / "pinfold-link.XXXXXX").string();
        directory_ = ::mkdtemp(name.data());
        path = (directory_ / "socket").string();
    }
    ~DaemonLinkTest() override { std::filesystem::remove_all(directory_); }

    void listen() {
        std::filesystem::remove(path);
        listener_.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        ASSERT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        ASSERT_EQ(::listen(listener_.get(), 10), 0);
    }
    void stopListening() { listener_.reset(); }
    UniqueFd accept() const { return UniqueFd(::accept(listener_.get(), nullptr, nullptr)); }
    static std::string read(const UniqueFd& connection) {
        std::array<char, 1000> text{};
        const auto length = ::recv(connection.get(), text.data(), text.size(), 0);
        return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(0, length))};
    }
    /// Answers the next request, and returns the request.
    static std::string answer(const UniqueFd& connection, const Result<WrapperReply>& reply) {
        auto request = read(connection);
        const auto packet = encodeWrapperReply(reply);
        EXPECT_EQ(::send(connection.get(), packet.data(), packet.size(), 0), static_cast<ssize_t>(packet.size()));
        return request;
    }
    /// Waits for the outcome, as the wrapper does.
    static Result<WrapperReply> outcome(DaemonLink& link) {
        const Deadline deadline(20s);
        for (;;) {
            if (auto done = link.advance())
                return *done;
            if (deadline.passed())
                return Error{ErrorCode::TimedOut, "no outcome"};
            auto wait = link.waitFor();
            ::poll(&wait, 1, std::min(link.timeoutMs() < 0 ? INT32_MAX : link.timeoutMs(), deadline.remainingMs()));
        }
    }

    std::string path;

private:
    std::filesystem::path directory_;
    UniqueFd listener_;
};

TEST_F(DaemonLinkTest, anAnswerIsTheOutcome) {
    listen();
    DaemonLink link(path);
    link.create({"sge.1", {}, false, false}, {});
    EXPECT_FALSE(link.advance());
    const auto connection = accept();
    EXPECT_EQ(answer(connection, WrapperReply{"sge.1", {}, {}, {}}), encode(WrapperCreate{"sge.1", {}, false, false}));
    EXPECT_EQ(outcome(link)->key, "sge.1");
    EXPECT_EQ(link.waitFor().fd, -1) << "a sleeping supervisor holds no connection";
}

TEST_F(DaemonLinkTest, aRefusalIsFinal) {
    listen();
    DaemonLink link(path);
    link.create({"sge.1", {}, false, false}, {});
    answer(accept(), Error{ErrorCode::Denied, "not yours"});
    const auto refused = outcome(link);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Denied);
    EXPECT_EQ(refused.error().message, "not yours");
}

// If an older pinfoldd does not know a member of a request, this pinfoldd refuses the request.
TEST_F(DaemonLinkTest, anOlderPinfolddGetsTheRequestWithoutTheIdentity) {
    const auto unknown = decodeWrapperRequest(R"({"version":1,"call":"end","key":"sge.1","leader":0,"of_a_later_version":1})");
    ASSERT_FALSE(unknown);
    listen();
    DaemonLink link(path);
    const WrapperCreate plain{.key = "sge.1", .limits = {.tasksMax = 5}};
    auto create = plain;
    create.identity.jobName = "train";
    link.create(create, {});
    EXPECT_EQ(answer(accept(), unknown.error()), encode(create));
    EXPECT_FALSE(link.advance());
    EXPECT_EQ(answer(accept(), WrapperReply{"sge.1", {}, {}, {}}), encode(plain));
    EXPECT_EQ(outcome(link)->key, "sge.1");

    WrapperEnd end{.key = "sge.1", .exit = {}, .toldOfRefusal = true, .identity = {.queue = "long"}};
    link.end(end);
    EXPECT_EQ(answer(accept(), unknown.error()), encode(end));
    EXPECT_FALSE(link.advance());
    end.identity = {};
    EXPECT_EQ(answer(accept(), unknown.error()), encode(end));
    const auto refused = outcome(link);
    ASSERT_FALSE(refused) << "pinfoldd does not know the request without the identity, either";
    EXPECT_EQ(refused.error().message, unknown.error().message);
}

TEST_F(DaemonLinkTest, aRefusalOfTheIdentityIsFinal) {
    listen();
    DaemonLink link(path);
    link.create({.key = "sge.1", .limits = {}, .identity = {.jobName = "train"}}, {});
    answer(accept(), Error{ErrorCode::InvalidArgument, "too many labels"});
    EXPECT_FALSE(outcome(link));
}

TEST_F(DaemonLinkTest, aLostAnswerIsAskedForAgain) {
    listen();
    DaemonLink link(path);
    link.end({"sge.1", 5, {.status = 0, .signal = {}}});
    const auto asked = read(accept()); // the connection is closed at once, as if pinfoldd was killed
    EXPECT_FALSE(link.advance());
    EXPECT_TRUE(link.away());
    while (!link.advance() && link.waitFor().fd < 0)
        ::poll(nullptr, 0, link.timeoutMs());
    const auto again = accept();
    EXPECT_EQ(answer(again, WrapperReply{"sge.1", {}, {}, {}}), asked);
    EXPECT_TRUE(outcome(link));
}

TEST_F(DaemonLinkTest, whoAsksAgainDoesSoMoreAndMoreSeldom) {
    listen();
    DaemonLink link(path);
    link.end({"sge.1", 5, {.status = 0, .signal = {}}});
    const Error refusal{ErrorCode::Unreachable, "pinfoldd does not start: pinfold.toml:1:6"};
    const auto asked = answer(accept(), refusal);
    ASSERT_FALSE(outcome(link)) << "spank takes it for an answer";
    link.askAgain();
    EXPECT_EQ(link.trouble(), refusal.message);
    EXPECT_LE(link.timeoutMs(), 100);
    ::poll(nullptr, 0, link.timeoutMs());
    EXPECT_FALSE(link.advance());
    EXPECT_EQ(answer(accept(), refusal), asked);
    ASSERT_FALSE(outcome(link));
    // The time from `before` to `after` is long if the machine stops the test between two calls. The link computes the time of
    // its next attempt from a moment between `before` and `after`.
    const auto before = MonotonicClock::now().time_since_epoch();
    for (int i = 0; i < 10; ++i)
        link.askAgain();
    const auto beforeNext = Microseconds(std::chrono::milliseconds(link.timeoutMs()));
    const auto after = MonotonicClock::now().time_since_epoch();
    EXPECT_LE(beforeNext, 6400ms);
    EXPECT_LT((before + beforeNext - 2ms) / 6400ms, (after + beforeNext) / 6400ms)
        << "at the moments at which all others ask, too";
    EXPECT_FALSE(link.advance());
}

TEST_F(DaemonLinkTest, awayUntilTheRequestIsRead) {
    listen();
    DaemonLink link(path);
    link.end({"sge.1", 5, {.status = 0, .signal = {}}});
    EXPECT_TRUE(link.away()) << "in the queue of a socket that nobody serves";
    const auto connection = accept();
    EXPECT_TRUE(link.away());
    (void)read(connection);
    EXPECT_FALSE(link.away());
    EXPECT_EQ(link.timeoutMs(), -1) << "an end takes as long as it takes";
}

TEST_F(DaemonLinkTest, theSocketMayComeLate) {
    DaemonLink link(path);
    link.create({"sge.1", {}, false, false}, {});
    EXPECT_FALSE(link.advance());
    EXPECT_TRUE(link.away());
    listen();
    while (!link.advance() && link.waitFor().fd < 0)
        ::poll(nullptr, 0, link.timeoutMs());
    answer(accept(), WrapperReply{"sge.1", {}, {}, {}});
    EXPECT_TRUE(outcome(link));
}

TEST_F(DaemonLinkTest, anotherUsersSocketIsNotTrusted) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "only root can act as another user";
    ASSERT_EQ(::chmod(std::filesystem::path(path).parent_path().c_str(), 0777), 0);
    ASSERT_EQ(::seteuid(65534), 0);
    listen();
    ASSERT_EQ(::seteuid(0), 0);
    DaemonLink link(path);
    link.list({1000}, 0s);
    const auto refused = outcome(link);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Unreachable);
    EXPECT_NE(refused.error().message.find("does not run as root"), std::string::npos) << refused.error().message;
}

TEST_F(DaemonLinkTest, aLoginWaitsForAsLongAsItCan) {
    listen();
    const auto begun = MonotonicClock::now();
    DaemonLink link(path);
    link.list({1000}, 200ms);
    const auto connection = accept();
    (void)read(connection);
    const auto silent = outcome(link);
    ASSERT_FALSE(silent);
    EXPECT_EQ(silent.error().code, ErrorCode::Unreachable);
    EXPECT_GE(MonotonicClock::now() - begun, 200ms);
}

TEST_F(DaemonLinkTest, nobodyThereIsSaidAfterFiveSeconds) {
    listen();
    stopListening();
    const auto begun = MonotonicClock::now();
    DaemonLink link(path);
    link.create({"sge.1", {}, false, false}, {});
    const auto gone = outcome(link);
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().code, ErrorCode::Unreachable);
    EXPECT_NE(gone.error().message.find("Connection refused"), std::string::npos) << gone.error().message;
    EXPECT_GE(MonotonicClock::now() - begun, 5s);
}

TEST_F(DaemonLinkTest, anAnswerMayFillThePacket) {
    listen();
    DaemonLink link(path);
    link.end({"sge.1", 5, {.status = 0, .signal = {}}});
    EXPECT_FALSE(link.advance());
    WrapperReply full{"sge.1", {}, {}, {}};
    full.summary = "x";
    full.summary.append(kMaxWrapperPacket - encodeWrapperReply(full).size(), 'x');
    ASSERT_EQ(encodeWrapperReply(full).size(), kMaxWrapperPacket);
    answer(accept(), full);
    EXPECT_EQ(outcome(link)->summary, full.summary);
}

TEST_F(DaemonLinkTest, anAnswerThatIsLargerThanAPacketIsAnError) {
    listen();
    DaemonLink link(path);
    link.end({"sge.1", 5, {.status = 0, .signal = {}}});
    EXPECT_FALSE(link.advance());
    const auto connection = accept();
    const std::string packet = R"({"key":"sge.1","summary":")" + std::string(kMaxWrapperPacket, 'x') + "\"}";
    ASSERT_EQ(::send(connection.get(), packet.data(), packet.size(), 0), static_cast<ssize_t>(packet.size()));
    EXPECT_FALSE(outcome(link));
}

TEST_F(DaemonLinkTest, moreThanAPacketHoldsIsRefusedHere) {
    DaemonLink link(path);
    link.create({std::string(kMaxWrapperPacket, 'x'), {}}, {});
    const auto refused = outcome(link);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
}

} // namespace
} // namespace pinfold
