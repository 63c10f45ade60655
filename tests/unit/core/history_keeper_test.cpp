// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/history/history_keeper.hpp"

#include "base/message_ids.hpp"
#include "base/parse.hpp"
#include "base/paths.hpp"
#include "os/replace_file.hpp"
#include "store/sent_position.hpp"
#include "tests/unit/core/core_fixture.hpp"

#include <sqlite3.h>

namespace pinfold::test {
namespace {

constexpr Microseconds kHour = 1h;
constexpr Microseconds kFirstLook = 10min;

class HistoryKeeperTest : public CoreTest {
protected:
    HistoryKeeperTest() : keeper(*context) { config.history = {.maxAge = 24 * kHour, .maxSize = kInfinity}; }

    /// Adds receipts of different jobs. The parameter `number` is the number of receipts. The parameter `ago` is the time
    /// from the ends of the jobs until now.
    void add(const std::string& name, std::uint64_t number, Microseconds ago) {
        std::vector<Receipt> made(number);
        for (std::uint64_t n = 0; n < number; ++n) {
            made[n].id = name + std::to_string(n);
            made[n].key = "sge." + made[n].id;
            made[n].ended = loop.realTime() - ago;
        }
        ASSERT_TRUE(history->write({made}));
    }
    /// Writes the file about the sent receipts, as pinfold-ship does.
    void sent(const std::string& epoch, std::uint64_t sequence) const {
        const auto file = inRoot(node.root(), kSentFile);
        std::filesystem::create_directories(file.parent_path());
        ASSERT_TRUE(replaceFile(file, encode(SentPosition{epoch, sequence, loop.realTime()}), 0644));
    }
    std::uint64_t rows() const { return history->list({.limit = 10'000})->size(); }
    Reply<Vacuumed> intoAnswer() {
        answer.reset();
        return [this](Result<Vacuumed> given) {
            EXPECT_FALSE(answer) << "answered twice";
            answer = std::move(given);
        };
    }
    void ask(const Retention& retention, Caller caller = {0, true}, bool dryRun = false) {
        keeper.vacuum(caller, {.retention = retention, .dryRun = dryRun}, intoAnswer());
        loop.settle();
    }
    std::vector<JournalEvent> removals() const {
        std::vector<JournalEvent> found;
        for (const auto& event : journal.events)
            if (event.messageId == kMessageHistoryVacuumed)
                found.push_back(event);
        return found;
    }
    void breakHistory() const {
        sqlite3* db = nullptr;
        ASSERT_EQ(sqlite3_open((node.root() / "var/lib/pinfold/history.db").c_str(), &db), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(db, "DROP TABLE receipts", nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
        sqlite3_close(db);
    }

    HistoryKeeper keeper;
    std::optional<Result<Vacuumed>> answer;
};

TEST_F(HistoryKeeperTest, looksByItselfAWhileAfterTheStartAndThenHourly) {
    add("old", 5, 25 * kHour);
    add("new", 3, 0s);
    keeper.start();
    loop.advance(kFirstLook - 1us);
    EXPECT_EQ(rows(), 8U) << "a node that comes up may not have set its clock";
    loop.advance(1us);
    EXPECT_EQ(rows(), 3U);
    ASSERT_EQ(removals().size(), 1U);
    EXPECT_EQ(removals()[0].message.substr(0, 42), "history: 5 of the oldest receipts removed;");

    add("late", 2, 25 * kHour);
    loop.advance(kHour);
    EXPECT_EQ(rows(), 3U);
    loop.advance(3 * kHour);
    EXPECT_EQ(removals().size(), 2U) << "nothing to remove is nothing to tell";
}

TEST_F(HistoryKeeperTest, takesABreakAfterAHundred) {
    add("old", 250, 25 * kHour);
    ask({});
    EXPECT_EQ(rows(), 150U);
    EXPECT_FALSE(answer);
    add("between", 1, 0s);
    EXPECT_EQ(rows(), 151U);
    loop.advance(1s);
    ASSERT_TRUE(answer && *answer);
    EXPECT_EQ((*answer)->removed, 250U);
    EXPECT_EQ((*answer)->bytes, history->info()->bytes);
    EXPECT_EQ(rows(), 1U);
    ASSERT_EQ(removals().size(), 1U);
    EXPECT_NE(removals()[0].message.find("250 of the oldest receipts removed for user 0"), std::string::npos);
    EXPECT_EQ(loop.timers(), 0U);
}

TEST_F(HistoryKeeperTest, aDryRunTellsTheFiguresAndRemovesNothing) {
    add("old", 250, 25 * kHour);
    add("new", 3, 0s);
    ask({}, {0, true}, true);
    ASSERT_TRUE(answer && *answer) << "at once";
    const auto found = **answer;
    EXPECT_EQ(found.removed, 250U);
    EXPECT_EQ(rows(), 253U);
    EXPECT_TRUE(removals().empty());
    ask({});
    loop.advance(1s);
    ASSERT_TRUE(answer && *answer);
    EXPECT_EQ((*answer)->removed, found.removed);
    EXPECT_EQ((*answer)->bytes, found.bytes);
    ask({}, {1001, false}, true);
    ASSERT_TRUE(answer && !*answer);
    EXPECT_EQ(answer->error().code, ErrorCode::Denied);
}

TEST_F(HistoryKeeperTest, whatIsNotAskedIsAsConfigured) {
    add("old", 5, 25 * kHour);
    add("new", 5, kHour);
    ask({.maxBytes = kInfinity});
    EXPECT_EQ((*answer)->removed, 5U);
    ask({.maxAge = kForever});
    EXPECT_EQ((*answer)->removed, 0U);
    config.history.maxSize = 0;
    ask({.maxAge = kForever});
    EXPECT_EQ((*answer)->removed, 5U) << "a reload's limits count from then on";
}

TEST_F(HistoryKeeperTest, aReceiptThatIsNotInTheArchiveStays) {
    config.archive.server = "archive.example.org";
    add("old", 5, 25 * kHour);
    ask({});
    EXPECT_EQ((*answer)->removed, 0U) << "pinfold-ship has sent nothing yet";
    ask({.maxAge = 0s, .maxBytes = 0});
    EXPECT_EQ((*answer)->removed, 0U) << "an administrator who asks does not lose them either";
    EXPECT_TRUE(removals().empty());

    sent(history->list({})->front().epoch.value(), 3);
    ask({});
    EXPECT_EQ((*answer)->removed, 3U);
    EXPECT_EQ(removals().back().message.find("not in the archive"), std::string::npos);

    config.archive.maxUnsent = 0;
    add("new", 1, 0s); // without a new receipt, the history would not trust the clock
    keeper.start();
    loop.advance(kFirstLook);
    EXPECT_EQ(rows(), 1U) << "beyond archive.max_unsent, history.max_age applies to all receipts";
    EXPECT_NE(removals().back().message.find("2 of the oldest receipts removed (2 of them not in the archive yet"),
              std::string::npos)
        << removals().back().message;
}

TEST_F(HistoryKeeperTest, withoutAnArchiveNoFileKeepsReceipts) {
    add("old", 5, 25 * kHour);
    sent("another-epoch", 0);
    ask({});
    EXPECT_EQ((*answer)->removed, 5U);
}

TEST_F(HistoryKeeperTest, usersMayNot) {
    add("old", 1, 25 * kHour);
    ask({}, {1000, false});
    ASSERT_TRUE(answer && !*answer);
    EXPECT_EQ(answer->error().code, ErrorCode::Denied);
    EXPECT_EQ(rows(), 1U);
    ask({}, {1000, true});
    EXPECT_TRUE(answer && *answer) << "pinfold-admin";
}

TEST_F(HistoryKeeperTest, oneAtATime) {
    add("old", 150, 25 * kHour);
    std::optional<Result<Vacuumed>> first;
    keeper.vacuum(root, {}, [&](Result<Vacuumed> given) { first = std::move(given); });
    ask({});
    ASSERT_TRUE(answer && !*answer);
    EXPECT_EQ(answer->error().code, ErrorCode::Busy);
    loop.advance(1s);
    ASSERT_TRUE(first && *first);
    EXPECT_EQ((*first)->removed, 150U) << "the first is not disturbed";
    ask({});
    EXPECT_TRUE(answer && *answer);
}

TEST_F(HistoryKeeperTest, itsOwnLookDoesNotJoinARequest) {
    keeper.start();
    loop.advance(kFirstLook - 10us);
    add("old", 250, 25 * kHour);
    ask({});
    loop.advance(10us);
    EXPECT_EQ(rows(), 150U) << "one step, not two";
    loop.advance(1s);
    EXPECT_EQ((*answer)->removed, 250U);
    add("later", 1, 25 * kHour);
    add("new", 1, 0s);
    loop.advance(kHour);
    EXPECT_EQ(rows(), 1U) << "the next look is an hour later all the same";
}

TEST_F(HistoryKeeperTest, aClockThatJumpsAYearAheadRemovesNothing) {
    add("new", 3, 0s);
    keeper.start();
    loop.advance(kFirstLook);
    loop.setClockAhead(365 * 24 * kHour);
    loop.advance(23 * kHour);
    EXPECT_EQ(rows(), 3U);
    EXPECT_EQ(std::count_if(journal.events.begin(), journal.events.end(),
                            [](const auto& event) { return event.message.find("the clock is far ahead") != std::string::npos; }),
              1);
    ask({});
    EXPECT_EQ(rows(), 0U) << "who asks for it is obeyed";
}

TEST_F(HistoryKeeperTest, aFailureIsToldAndTriedAgain) {
    breakHistory();
    add("old", 0, 0s);
    ask({});
    ASSERT_TRUE(answer && !*answer);
    EXPECT_EQ(answer->error().code, ErrorCode::Internal);
    keeper.start();
    loop.advance(kFirstLook + kHour);
    EXPECT_EQ(
        std::count_if(journal.events.begin(), journal.events.end(),
                      [](const auto& event) { return event.message.starts_with("history: cannot remove enough old receipts"); }),
        3);
}

} // namespace
} // namespace pinfold::test
