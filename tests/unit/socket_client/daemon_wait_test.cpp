// SPDX-License-Identifier: LGPL-2.1-or-later
#include "socket_client/daemon_link.hpp"

#include "tests/support/cpp/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <string>

namespace pinfold {
namespace {

constexpr Microseconds kShort = 50ms;
constexpr Microseconds kLong = 60s;
const WrapperEnd kQuestion{.key = "slurm.1", .leader = 0, .exit = {}};

class DaemonWait : public test::TemporaryDirectory {
protected:
    DaemonWait() {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(::listen(listener_.get(), 10), 0);
    }
    /// Reads a request, and returns the connection of the request.
    UniqueFd read() const {
        UniqueFd connection(::accept(listener_.get(), nullptr, nullptr));
        std::array<char, 1000> request{};
        EXPECT_GT(::recv(connection.get(), request.data(), request.size(), 0), 0);
        return connection;
    }

private:
    UniqueFd listener_{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};

protected:
    std::string path = (top() / "socket").string();
    DaemonLink link{path};
};

TEST_F(DaemonWait, isPinfolddsAnswer) {
    link.end(kQuestion);
    const auto connection = read();
    const auto packet = encodeWrapperReply(WrapperReply{"slurm.1", {}, {}, {}});
    ASSERT_EQ(::send(connection.get(), packet.data(), packet.size(), 0), static_cast<ssize_t>(packet.size()));
    const auto answer = link.wait({kLong, kLong});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->key, "slurm.1");
}

TEST_F(DaemonWait, whoHasReadTheRequestHasUntilTheLaterTime) {
    link.end(kQuestion);
    const auto connection = read();
    const auto answer = link.wait({0s, kShort});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::TimedOut);
}

TEST_F(DaemonWait, whoReadsNothingHasUntilTheEarlierTime) {
    link.end(kQuestion);
    const auto answer = link.wait({kShort, kLong});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::Unreachable);
}

TEST(DaemonWaitForNobody, isUnreachable) {
    DaemonLink link("/nonexistent/socket");
    link.end(kQuestion);
    const auto answer = link.wait({kShort, kLong});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::Unreachable);
}

} // namespace
} // namespace pinfold
