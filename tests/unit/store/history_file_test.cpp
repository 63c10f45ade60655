// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests a history that is damaged, a history that is removed, and a history that is full. Tests the answers to queries of the
// history while a writer of the history hangs.
#include "store/async_history.hpp"

#include "history_fixture.hpp"
#include "tests/support/cpp/manual_background.hpp"

#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <map>

namespace pinfold::test {
namespace {

using Receipts = std::vector<Receipt>;

class HistoryFileTest : public TemporaryDirectory {
protected:
    Result<Receipts> write(const std::string& id) {
        return history.use<Receipts>([&](History& open) { return open.write({{receipt(id, "sge.1", 100)}}); });
    }
    std::vector<std::string> stored() const {
        std::vector<std::string> ids;
        const auto list = History::open(file, History::Mode::ReadOnly)->list({});
        for (const auto& each : *list)
            ids.push_back(each.id);
        return ids;
    }
    /// Returns the contents of the files that pinfold has moved aside, except the write-ahead logs.
    std::map<std::string, std::string> aside() const {
        std::map<std::string, std::string> found;
        for (const auto& entry : std::filesystem::directory_iterator(top())) {
            std::ifstream text(entry.path(), std::ios::binary);
            if (entry.path().string().find(".damaged-") != std::string::npos && !entry.path().string().ends_with("-wal") &&
                !entry.path().string().ends_with("-shm"))
                found[entry.path().filename()] = std::string(std::istreambuf_iterator<char>(text), {});
        }
        return found;
    }
    /// Moves all data into the main file, and overwrites all pages of the main file except the first page.
    void scribble() const {
        sqlite3* db = nullptr;
        ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
        ASSERT_EQ(sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", nullptr, nullptr, nullptr), SQLITE_OK);
        sqlite3_close(db);
        std::fstream pages(file, std::ios::in | std::ios::out | std::ios::binary);
        pages.seekp(4096);
        pages << std::string(std::filesystem::file_size(file) - 4096, '\xee');
    }

    const std::filesystem::path file = top() / "history.db";
    pinfold::HistoryFile history{file};
};

TEST_F(HistoryFileTest, aFileOfRandomBytesIsMovedAsideAndANewOneBegun) {
    const std::string rubbish(20'000, '\x5a');
    TemporaryDirectory::write("history.db", rubbish);
    ASSERT_TRUE(write("a"));
    EXPECT_EQ(stored(), std::vector<std::string>{"a"});
    const auto moved = aside();
    ASSERT_EQ(moved.size(), 1U);
    EXPECT_TRUE(moved.begin()->first.starts_with("history.db.damaged-20")) << moved.begin()->first;
    EXPECT_EQ(moved.begin()->second, rubbish);
    const auto news = history.takeNews();
    ASSERT_TRUE(news.damage);
    EXPECT_NE(news.damage->find(moved.begin()->first), std::string::npos) << *news.damage;
    EXPECT_EQ(news.lastManualNumber, 0U);
    EXPECT_FALSE(history.takeNews().damage) << "told once";
}

TEST_F(HistoryFileTest, twoInASecondHaveTwoNames) {
    for (int n = 0; n < 2; ++n) {
        std::filesystem::remove(file);
        TemporaryDirectory::write("history.db", std::string(9'000, '\x5a'));
        ASSERT_TRUE(write("a"));
    }
    EXPECT_EQ(aside().size(), 2U);
}

TEST_F(HistoryFileTest, aFileThatWasRemovedIsBegunAnew) {
    ASSERT_TRUE(write("a"));
    std::filesystem::remove(file);
    ASSERT_TRUE(write("b"));
    EXPECT_EQ(stored(), std::vector<std::string>{"b"});
}

TEST_F(HistoryFileTest, damageThatTheOpenWriterFindsIsMovedAside) {
    ASSERT_TRUE(write("a"));
    (void)history.takeNews();
    scribble();
    ASSERT_TRUE(write("b")) << "in the new file";
    EXPECT_EQ(stored(), std::vector<std::string>{"b"});
    ASSERT_EQ(aside().size(), 1U);
    const auto news = history.takeNews();
    ASSERT_TRUE(news.damage);
    EXPECT_NE(news.damage->find(aside().begin()->first), std::string::npos) << *news.damage;
    EXPECT_EQ(news.lastManualNumber, 0U) << "the new file was opened";
    ASSERT_TRUE(write("c"));
    EXPECT_EQ(stored().size(), 2U);
    EXPECT_FALSE(history.takeNews().damage);
}

TEST_F(HistoryFileTest, aFullDiskIsAnErrorAndNoDamage) {
    ASSERT_TRUE(write("a"));
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit none{0, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
    const auto failed = write("b");
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, ignored);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, ErrorCode::Internal);
    ASSERT_TRUE(write("b")) << "there is room again";
    EXPECT_EQ(stored().size(), 2U);
    EXPECT_TRUE(aside().empty());
}

TEST_F(HistoryFileTest, whatIsStoredUnderAnIdIsTold) {
    ASSERT_TRUE(write("a"));
    auto again = receipt("a", "sge.1", 999);
    const auto known = history.use<Receipts>([&](History& open) { return open.write({{again, receipt("b", "sge.2", 100)}}); });
    ASSERT_TRUE(known);
    ASSERT_EQ(known->size(), 2U);
    EXPECT_EQ(unnumbered((*known)[0]), receipt("a", "sge.1", 100));
    EXPECT_EQ((*known)[0].sequence, 1U);
    EXPECT_EQ((*known)[1].sequence, 2U);
}

class AsyncHistoryTest : public HistoryFileTest {
protected:
    Result<Receipts> ask(ReceiptFilter filter = {}) {
        std::optional<Result<Receipts>> answer;
        store.list(std::move(filter), [&](Result<Receipts> given) { answer = std::move(given); });
        loop.settle();
        return answer.value_or(Error{ErrorCode::TimedOut, "no answer"});
    }
    void put(const std::string& id) {
        store.write({{receipt(id, "sge.1", 100)}}, [](const Result<Receipts>& done) { EXPECT_TRUE(done); });
        loop.settle();
    }

    ManualEventLoop loop;
    ManualBackground background{loop};
    AsyncHistory store{background, file};
};

TEST_F(AsyncHistoryTest, queriesDoNotWaitForAWriterThatHangs) {
    put("a");
    background.hold(Lane::HistoryWrite);
    put("b");
    EXPECT_EQ(ask()->size(), 1U);
    background.release(Lane::HistoryWrite);
    loop.settle();
    EXPECT_EQ(ask()->size(), 2U);
}

TEST_F(AsyncHistoryTest, tooManyQueriesAreRefused) {
    put("a");
    background.hold(Lane::HistoryRead);
    int busy = 0;
    for (int n = 0; n < 100; ++n)
        store.list({}, [&](const Result<Receipts>& given) { busy += !given && given.error().code == ErrorCode::Busy; });
    EXPECT_GT(busy, 0);
    background.release(Lane::HistoryRead);
    loop.settle();
    EXPECT_EQ(ask()->size(), 1U);
}

TEST_F(AsyncHistoryTest, aQueryThatFindsDamageHasTheFileReplaced) {
    std::string damage;
    store.onDamage = [&](const std::string& words) { damage = words; };
    put("a");
    scribble();
    EXPECT_EQ(ask().error().code, ErrorCode::Internal);
    loop.settle();
    EXPECT_NE(damage, "");
    EXPECT_EQ(aside().size(), 1U);
    ASSERT_TRUE(ask());
    EXPECT_EQ(ask()->size(), 0U);
    put("b");
    EXPECT_EQ(ask()->size(), 1U);
}

TEST_F(AsyncHistoryTest, whatComesAfterItsEndIsNotTold) {
    background.hold(Lane::HistoryWrite);
    {
        AsyncHistory shortLived(background, file);
        shortLived.write({{receipt("a", "sge.1", 100)}}, [](const Result<Receipts>&) { ADD_FAILURE() << "told"; });
    }
    background.release(Lane::HistoryWrite);
    loop.settle();
    EXPECT_EQ(stored(), std::vector<std::string>{"a"});
}

} // namespace
} // namespace pinfold::test
