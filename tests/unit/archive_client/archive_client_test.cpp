// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archive_client/archive_client.hpp"

#include "base/unique_fd.hpp"
#include "model/receipt_json.hpp"

#include "tests/support/cpp/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pinfold {
namespace {

const std::string kEnd = encodeEnd(Result<void>());

std::string lineOf(const std::string& id) {
    Receipt receipt;
    receipt.id = id;
    receipt.key = "slurm.1";
    return encode(receipt) + "\n";
}

/// Acts as the service pinfold-archive. Each connection gets the next answer from `answers`.
class ArchiveClient : public test::TemporaryDirectory {
protected:
    ArchiveClient() {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(::listen(listener_.get(), 10), 0);
    }

    Result<ArchiveAnswer> ask(const std::vector<std::string>& answers, const ArchiveQuery& query = {}) {
        std::thread service([this, &answers] {
            for (const auto& answer : answers) {
                const UniqueFd connection(::accept(listener_.get(), nullptr, nullptr));
                std::array<char, kMostArchiveRequest> part{};
                const auto length = ::recv(connection.get(), part.data(), part.size(), 0);
                request.assign(part.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
                EXPECT_EQ(::send(connection.get(), answer.data(), answer.size(), MSG_NOSIGNAL),
                          static_cast<ssize_t>(answer.size()));
            }
        });
        auto answer = askArchive(query, path);
        service.join();
        return answer;
    }

private:
    UniqueFd listener_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};

protected:
    std::string path = (top() / "socket").string();
    std::string request; ///< the last request that the service has received
};

TEST_F(ArchiveClient, returnsTheReceiptsInTheirOrder) {
    const auto answer = ask({lineOf("2") + lineOf("1") + kEnd}, {.filter = {.key = "slurm.1"}});
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_EQ(answer->receipts.size(), 2U);
    EXPECT_EQ(answer->receipts[0].id, "2");
    EXPECT_EQ(answer->receipts[1].id, "1");
    EXPECT_EQ(request, encode(ArchiveQuery{.filter = {.key = "slurm.1"}}));
}

TEST_F(ArchiveClient, triesTheArchiveOnlyForAsLongAsTheCallerWaits) {
    const auto begun = MonotonicClock::now();
    const auto tried = tryArchive(50ms, path); // the socket listens, but nobody answers a request
    ASSERT_FALSE(tried);
    EXPECT_EQ(tried.error().code, ErrorCode::TimedOut);
    EXPECT_LT(timeBetween(begun, MonotonicClock::now()), 20s);
    EXPECT_EQ(tryArchive(1s, path + "-nobody").error().code, ErrorCode::Unreachable);
}

TEST_F(ArchiveClient, takesNoPartOfAnAnswerForTheWhole) {
    for (const auto& cut : {lineOf("2"), lineOf("2") + "{\"end\":tr", std::string()}) {
        const auto answer = ask({cut});
        ASSERT_FALSE(answer) << cut;
        EXPECT_EQ(answer.error().code, ErrorCode::Unreachable);
    }
}

TEST_F(ArchiveClient, anErrorAfterReceiptsIsAnError) {
    const auto answer = ask({lineOf("2") + encodeEnd(Error{ErrorCode::TimedOut, "too slow"})});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::TimedOut);
    EXPECT_EQ(answer.error().message, "too slow");
}

TEST_F(ArchiveClient, oneUnreadableReceiptHidesNoOther) {
    const auto answer = ask({"{\"id\": \"3\"}\n" + lineOf("2") + kEnd});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->receipts.size(), 1U);
    ASSERT_EQ(answer->unreadable.size(), 1U);
    EXPECT_NE(answer->unreadable[0].find("key"), std::string::npos) << answer->unreadable[0];
}

TEST_F(ArchiveClient, textsOfAReceiptCannotControlATerminal) {
    Receipt receipt;
    receipt.id = "4";
    receipt.key = "slurm.1\x1b[2J";
    receipt.identity.labels = {{"phase\r", "\u202e"}};
    const auto answer = ask({encode(receipt) + "\n" + kEnd});
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_EQ(answer->receipts.size(), 1U);
    EXPECT_EQ(answer->receipts[0].key, "slurm.1\\x1b[2J");
    EXPECT_EQ(answer->receipts[0].identity.labels, (Labels{{"phase\\x0d", "\\xe2\\x80\\xae"}}));
}

TEST_F(ArchiveClient, oneControlCharacterIsEnoughToEscapeTheTexts) {
    Receipt receipt;
    receipt.id = "4";
    receipt.key = "slurm.1\x7f";
    const auto answer = ask({encode(receipt) + "\n" + kEnd});
    ASSERT_TRUE(answer && answer->receipts.size() == 1);
    EXPECT_EQ(answer->receipts[0].key, "slurm.1\\x7f");
}

TEST_F(ArchiveClient, takesTheProfileOfAReceiptIfItIsWanted) {
    const auto withMember = [](const std::string& member) {
        auto line = lineOf("2");
        line.insert(line.rfind('}'), ",\"profile\":" + member);
        return line;
    };
    const ArchiveQuery wanted{.filter = {.profiles = true}};
    auto answer = ask({withMember("\"0100ff\"") + withMember("null") + lineOf("1") + kEnd}, wanted);
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_EQ(answer->receipts.size(), 3U);
    EXPECT_EQ(answer->receipts[0].profile, std::string("\x01\x00\xff", 3));
    EXPECT_EQ(answer->receipts[1].profile + answer->receipts[2].profile, "");
    answer = ask({withMember("\"0100ff\"") + kEnd});
    ASSERT_TRUE(answer && answer->receipts.size() == 1);
    EXPECT_EQ(answer->receipts[0].profile, "") << "a node can write this member into its receipt";
    answer = ask({withMember("\"0g\"") + withMember("7") + kEnd}, wanted);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->unreadable.size(), 2U);
}

TEST_F(ArchiveClient, asksAgainWhileTheServiceIsBusy) {
    const auto busy = encodeEnd(Error{ErrorCode::Busy, "try again"});
    const auto answer = ask({busy, busy, lineOf("2") + kEnd});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->receipts.size(), 1U);
}

TEST_F(ArchiveClient, sendsNoRequestThatTheServiceWouldRefuse) {
    const auto answer = askArchive({.filter = {.key = std::string(kMostArchiveRequest, 'x')}}, path);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::InvalidArgument);
}

TEST(ArchiveClientWithoutService, saysWhatToLookAt) {
    const auto answer = askArchive({}, "/nonexistent/archive.sock");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::Unreachable);
    EXPECT_NE(answer.error().message.find("systemctl status pinfold-archive.socket"), std::string::npos);
}

} // namespace
} // namespace pinfold
