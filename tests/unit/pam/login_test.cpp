// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pam/login.hpp"

#include "base/deadline.hpp"
#include "base/error_code.hpp"
#include "base/unique_fd.hpp"
#include "tests/support/cpp/temporary_directory.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace pinfold::pam {
namespace {

WrapperReply listOf(std::vector<WrapperJob> jobs) { return {"", {}, {}, {}, {}, {}, std::move(jobs)}; }

/// The tests of logins use a fake pinfoldd. The fake pinfoldd gives the answers of a list, one answer for each call.
class LoginTest : public test::TemporaryDirectory {
protected:
    ~LoginTest() override { join(); }
    void join() {
        if (thread_.joinable())
            thread_.join();
    }
    void listen() {
        listener_.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        ASSERT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        ASSERT_EQ(::listen(listener_.get(), 10), 0);
    }
    void answerWith(std::vector<std::string> packets) {
        listen();
        thread_ = std::thread([this, packets = std::move(packets)] {
            for (const auto& packet : packets) {
                const UniqueFd connection(::accept(listener_.get(), nullptr, nullptr));
                std::array<char, 1000> request{};
                const auto length = ::recv(connection.get(), request.data(), request.size(), 0);
                asked += std::string(request.data(), static_cast<std::size_t>(std::max<ssize_t>(0, length))) + "\n";
                (void)!::send(connection.get(), packet.data(), packet.size(), MSG_NOSIGNAL);
            }
        });
    }
    void answer(std::initializer_list<Result<WrapperReply>> replies) {
        std::vector<std::string> packets;
        for (const auto& reply : replies)
            packets.push_back(encodeWrapperReply(reply));
        answerWith(std::move(packets));
    }
    Outcome accountOf(const Login& login) const { return account(login, options, path); }
    Outcome sessionOf(const Login& login) const { return openSession(login, options, path); }

    const std::string path = (top() / "socket").string();
    const Login root{.user = "root", .uid = 0, .node = "node7"};
    const Login alice{.user = "alice", .uid = 1000, .node = "node7"};
    const Login staff{.user = "sam", .uid = 1001, .admitted = true, .node = "node7"};
    PamOptions options;
    std::string asked;

private:
    UniqueFd listener_;
    std::thread thread_;
};

TEST_F(LoginTest, rootIsLetInWithoutAsking) {
    options.wrong = "everything";
    for (const auto& outcome : {accountOf(root), sessionOf(root)}) {
        EXPECT_EQ(outcome.pamCode, kPamSuccess);
        EXPECT_EQ(outcome.toUser, "");
    }
}

TEST_F(LoginTest, membersOfTheGroupsAreLetInWithoutAsking) { EXPECT_EQ(accountOf(staff).pamCode, kPamSuccess); }

TEST_F(LoginTest, whoHasAJobIsLetIn) {
    answer({listOf({{"sge.1", ShownState::Running}})});
    const auto outcome = accountOf(alice);
    EXPECT_EQ(outcome.pamCode, kPamSuccess);
    EXPECT_EQ(outcome.toUser, "");
    EXPECT_EQ(asked, encode(WrapperList{1000}) + "\n");
}

TEST_F(LoginTest, whoHasNoneIsRefused) {
    answer({listOf({})});
    const auto outcome = accountOf(alice);
    EXPECT_EQ(outcome.pamCode, kPamPermDenied);
    EXPECT_TRUE(outcome.toUser.starts_with("You have no job on node7")) << outcome.toUser;
    EXPECT_TRUE(outcome.toLog.starts_with("user alice is refused: You have no job")) << outcome.toLog;
}

TEST_F(LoginTest, wrongOptionsRefuseAllButThoseWhoNeedNoJob) {
    options.wrong = "'nojob' is none";
    options.admitOnFailure = true;
    EXPECT_EQ(accountOf(alice).pamCode, kPamSystemErr);
    EXPECT_EQ(sessionOf(alice).pamCode, kPamSessionErr);
    EXPECT_NE(accountOf(alice).toUser.find("administrators"), std::string::npos);
    for (const auto& outcome : {accountOf(staff), sessionOf(staff)}) {
        EXPECT_EQ(outcome.pamCode, kPamSuccess);
        EXPECT_NE(outcome.toLog.find("'nojob'"), std::string::npos);
    }
}

TEST_F(LoginTest, anAnswerThatCannotBeReadIsNone) {
    for (const char* packet : {"hello", "{}", R"({"key":"sge.1"})", R"({"key":"","jobs":[{}]})"}) {
        std::filesystem::remove(path);
        answerWith({packet, packet, packet, packet});
        EXPECT_EQ(accountOf(alice).pamCode, kPamAuthinfoUnavail) << packet;
        EXPECT_EQ(sessionOf(alice).pamCode, kPamSessionErr) << packet;
        EXPECT_EQ(sessionOf(staff).pamCode, kPamSuccess) << packet;
        options.admitOnFailure = true;
        const auto admitted = accountOf(alice);
        EXPECT_EQ(admitted.pamCode, kPamSuccess);
        EXPECT_EQ(admitted.priority, LOG_WARNING);
        EXPECT_NE(admitted.toLog.find("on_failure=admit"), std::string::npos);
        options.admitOnFailure = false;
        join();
    }
}

TEST_F(LoginTest, aPinfolddThatDoesNotAnswerIsWaitedForNoLongerThanAPhaseTakes) {
    listen();
    // A login that took too long is repeated, because a busy machine can stop the test for seconds during one login.
    bool inTime = false;
    for (int i = 0; i < 5 && !inTime; ++i) {
        const auto begun = MonotonicClock::now();
        const auto outcome = accountOf(alice);
        const auto took = MonotonicClock::now() - begun;
        EXPECT_EQ(outcome.pamCode, kPamAuthinfoUnavail);
        EXPECT_TRUE(outcome.toUser.starts_with("It cannot be checked whether you have a job on node7 at the moment"))
            << outcome.toUser;
        EXPECT_EQ(outcome.priority, LOG_ERR);
        EXPECT_GE(took, kPhaseTime);
        inTime = took < kPhaseTime + 1s;
    }
    EXPECT_TRUE(inTime) << "each login took too long";
}

TEST_F(LoginTest, pinfolddsWordForAnAdoptionIsNotTaken) {
    answer({listOf({{"sge.1", ShownState::Running}}), WrapperReply{"sge.1", {}, {}, {}, 3}});
    const auto outcome = sessionOf(alice);
    EXPECT_EQ(outcome.pamCode, kPamSessionErr);
    EXPECT_NE(outcome.toLog.find("pinfoldd says that the login is in task 3 of job sge.1, but the login is in /"),
              std::string::npos)
        << outcome.toLog;
    EXPECT_TRUE(outcome.toUser.starts_with("Your login to node7 could not be made part of your job sge.1"));
    EXPECT_EQ(asked, encode(WrapperList{1000}) + "\n" + encode(WrapperAdopt{"sge.1", 1000}) + "\n");
}

TEST_F(LoginTest, whatTheSiteAdmitsOnFailureIsNotARefusalOfPinfoldds) {
    options.admitOnFailure = true;
    answer({listOf({}), listOf({{"sge.1", ShownState::Running}}), Error{ErrorCode::JobEnding, "job 'sge.1' is ending"},
            listOf({{"sge.1", ShownState::Running}}), Error{ErrorCode::Busy, "job 'sge.1' has 1000 live tasks already"},
            listOf({{"sge.1", ShownState::Running}}), Error{ErrorCode::SystemdFailed, "no"}});
    EXPECT_EQ(sessionOf(alice).pamCode, kPamSessionErr);
    EXPECT_EQ(sessionOf(alice).pamCode, kPamSessionErr);
    EXPECT_EQ(sessionOf(alice).pamCode, kPamSessionErr);
    EXPECT_EQ(sessionOf(alice).pamCode, kPamSuccess);
}

TEST_F(LoginTest, membersOfTheGroupsNeedNoJobAndNoAdoption) {
    answer({listOf({}), listOf({{"sge.1", ShownState::Running}}), Error{ErrorCode::JobEnding, "job 'sge.1' is ending"}});
    EXPECT_EQ(sessionOf(staff).pamCode, kPamSuccess);
    EXPECT_EQ(sessionOf(staff).pamCode, kPamSuccess);
}

} // namespace
} // namespace pinfold::pam
