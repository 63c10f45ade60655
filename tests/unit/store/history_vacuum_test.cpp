// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history_fixture.hpp"

#include "store/sent_position.hpp"

#include <algorithm>
#include <fstream>

namespace pinfold::test {

TEST_F(HistoryFile, infoTellsNumberSizeAndTimes) {
    auto history = open();
    auto info = *history.info();
    EXPECT_EQ(info.rows, 0U);
    EXPECT_FALSE(info.oldest);
    EXPECT_FALSE(info.newest);
    EXPECT_GT(info.bytes, 0U);
    EXPECT_LT(info.bytes, 100'000U);
    ASSERT_TRUE(history.write({mixed()}));
    info = *history.info();
    EXPECT_EQ(info.rows, 7U);
    EXPECT_EQ(info.oldest, fromUsec<RealTime>(100));
    EXPECT_EQ(info.newest, fromUsec<RealTime>(700));
}

TEST_F(HistoryFile, withoutLimitsAllStays) {
    auto history = open();
    ASSERT_TRUE(history.write({mixed()}));
    for (const Retention& retention :
         {Retention{}, Retention{.maxAge = kForever}, Retention{.maxBytes = UINT64_MAX}, Retention{.maxAge = 0s}}) {
        const auto vacuumed = history.vacuum(retention, fromUsec<RealTime>(100), 10);
        ASSERT_TRUE(vacuumed) << vacuumed.error().message;
        EXPECT_EQ(vacuumed->removed, 0U);
        EXPECT_FALSE(vacuumed->more);
        EXPECT_EQ(vacuumed->bytes, history.info()->bytes);
    }
    expectMixed(history);
}

TEST_F(HistoryFile, whatIsTooOldIsRemovedOldestFirst) {
    auto history = open();
    auto receipts = mixed();
    std::rotate(receipts.begin(), receipts.begin() + 3, receipts.end()); // the receipts are not in the order of the jobs' ends
    ASSERT_TRUE(history.write({receipts}));
    auto vacuumed = *history.vacuum({.maxAge = 600us}, fromUsec<RealTime>(1000), 2);
    EXPECT_EQ(vacuumed.removed, 2U);
    EXPECT_TRUE(vacuumed.more);
    EXPECT_EQ(idsOf(history.list({})), (Ids{"slow2", "unknown", "stopped", "messy", "slow"}));
    ASSERT_TRUE(history.write({{receipt("new", "sge.9", 990)}})); // the receipt "new" comes between two calls of vacuum()
    vacuumed = *history.vacuum({.maxAge = 600us}, fromUsec<RealTime>(1000), 2);
    EXPECT_EQ(vacuumed.removed, 1U);
    EXPECT_FALSE(vacuumed.more);
    // the job "messy" ended exactly 600 us ago, so the job's receipt is not too old
    EXPECT_EQ(idsOf(history.list({})), (Ids{"new", "slow2", "unknown", "stopped", "messy"}));
    EXPECT_EQ(idsOf(history.list(kinds({}, {}, false, true))), (Ids{"slow2", "stopped"}));
}

TEST_F(HistoryFile, anExactBatchLeavesNoMore) {
    auto history = open();
    ASSERT_TRUE(history.write({mixed()}));
    const auto vacuumed = *history.vacuum({.maxAge = 600us}, fromUsec<RealTime>(1000), 3);
    EXPECT_EQ(vacuumed.removed, 3U);
    EXPECT_FALSE(vacuumed.more);
}

TEST_F(HistoryFile, whatIsTooLargeShrinksInShortCalls) {
    auto history = open();
    ASSERT_TRUE(history.write({large(1000)}));
    const auto before = history.info()->bytes;
    ASSERT_GT(before, 1'000'000U);
    const auto limit = before / 2;
    Vacuumed vacuumed;
    std::uint64_t removed = 0;
    do {
        const auto call = history.vacuum({.maxBytes = limit}, fromUsec<RealTime>(0), 100);
        ASSERT_TRUE(call) << call.error().message;
        vacuumed = *call;
        EXPECT_LE(vacuumed.removed, 100U);
        EXPECT_GT(vacuumed.removed, 0U);
        removed += vacuumed.removed;
    } while (vacuumed.more);
    EXPECT_LE(vacuumed.bytes, limit);
    EXPECT_GT(vacuumed.bytes, limit - 100 * 4096); // the last call of vacuum() can remove 100 receipts more than necessary
    EXPECT_EQ(history.info()->bytes, vacuumed.bytes);
    EXPECT_EQ(history.info()->rows, 1000 - removed);
    EXPECT_EQ(history.info()->oldest, fromUsec<RealTime>(1000 + removed));
    EXPECT_EQ(history.info()->newest, fromUsec<RealTime>(1999));
    EXPECT_LE(number("SELECT freelist_count FROM pragma_freelist_count"), 32U); // the last call of vacuum() can leave free pages
    sql("PRAGMA wal_checkpoint(TRUNCATE)");
    EXPECT_LE(std::filesystem::file_size(file()), limit + 16 * 4096);
}

TEST_F(HistoryFile, aDryRunFindsOutWhatTheCallsWouldDo) {
    auto history = open();
    ASSERT_TRUE(history.write({large(1000)}));
    const auto before = *history.info();
    for (const Retention& retention : {Retention{.maxAge = 900us, .maxBytes = before.bytes / 2}, Retention{.maxAge = 100us}}) {
        const auto there = *history.info();
        const auto found = history.tryVacuum(retention, fromUsec<RealTime>(2000), 100, 1h);
        ASSERT_TRUE(found) << found.error().message;
        EXPECT_FALSE(found->more);
        EXPECT_EQ(history.info()->rows, there.rows);
        EXPECT_EQ(history.info()->bytes, there.bytes);
        EXPECT_EQ(history.list({.limit = 10'000})->size(), there.rows);
        std::uint64_t removed = 0;
        Vacuumed call{.more = true};
        while (call.more) {
            call = *history.vacuum(retention, fromUsec<RealTime>(2000), 100);
            removed += call.removed;
        }
        EXPECT_GT(removed, 100U) << "so there were several calls";
        EXPECT_EQ(found->removed, removed);
        EXPECT_EQ(found->bytes, call.bytes);
    }
}

TEST_F(HistoryFile, aDryRunThatTakesTooLongGivesUp) {
    auto history = open();
    ASSERT_TRUE(history.write({mixed()}));
    const auto found = history.tryVacuum({.maxAge = 0s}, fromUsec<RealTime>(1000), 1, 0s);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::TimedOut);
    EXPECT_NE(found.error().message.find("fewer receipts"), std::string::npos);
    expectMixed(history);
}

TEST_F(HistoryFile, whoFillsItPushesOutNobodyElses) {
    auto history = open();
    ASSERT_TRUE(history.write({{receipt("alices", "sge.1", 10, 1001), receipt("bobs", "sge.2", 20, 1002)}}));
    ASSERT_TRUE(history.write({large(1000)}));
    const auto limit = history.info()->bytes / 2;
    while (history.vacuum({.maxBytes = limit}, fromUsec<RealTime>(0), 100)->more) {
    }
    EXPECT_LE(history.info()->bytes, limit);
    EXPECT_EQ(idsOf(history.list(of(1001, {}))), Ids{"alices"});
    EXPECT_EQ(idsOf(history.list(of(1002, {}))), Ids{"bobs"});
    EXPECT_EQ(history.vacuum({.maxAge = 600us}, fromUsec<RealTime>(1000), 100)->removed, 2U) << "for their age, all the same";
}

TEST_F(HistoryFile, receiptsOfSubordinateIdsAreTheirOwners) {
    auto history = open();
    ASSERT_TRUE(history.write({{receipt("alices", "sge.1", 1, 1001)}}));
    std::vector<Receipt> ofBob;
    for (uid_t id = 100'000; id < 100'020; ++id)
        ofBob.push_back(receipt(std::to_string(id), "user.1", 100, id));
    ASSERT_TRUE(history.write({ofBob}));
    std::vector<Receipt> ofDora;
    for (int number = 0; number < 10; ++number)
        ofDora.push_back(receipt("doras" + std::to_string(number), "sge.2", 10, 1003));
    ASSERT_TRUE(history.write({ofDora}));
    const auto owners = std::make_shared<SubordinateOwners>(SubordinateOwners{{{100'000, {165'535, 1002}}}});
    for (int call = 0; call < 10; ++call)
        EXPECT_EQ(history.vacuum({.maxBytes = 1, .owners = owners}, fromUsec<RealTime>(0), 1)->removed, 1U);
    EXPECT_EQ(history.list({})->size(), 21U);
    EXPECT_EQ(history.list(of(1003, {}))->size(), 10U) << "one of the ids of bob has fewer receipts, but bob has more";
    EXPECT_EQ(history.list(of(1001, {}))->size(), 1U);
}

TEST_F(HistoryFile, aLimitBelowAnEmptyFileEnds) {
    auto history = open();
    ASSERT_TRUE(history.write({mixed()}));
    const auto vacuumed = *history.vacuum({.maxBytes = 1}, fromUsec<RealTime>(0), 100);
    EXPECT_EQ(vacuumed.removed, 7U);
    EXPECT_FALSE(vacuumed.more);
    EXPECT_EQ(idsOf(history.list({})), Ids{});
    EXPECT_TRUE(history.write({mixed()}));
    expectMixed(history);
}

TEST_F(HistoryFile, anOlderFileStaysWithinItsLimitToo) {
    const auto receipts = large(100);
    writeSchema1(receipts);
    auto history = open();
    const auto size = history.info()->bytes;
    EXPECT_EQ(history.vacuum({.maxBytes = size / 2}, fromUsec<RealTime>(0), 1000)->more, false);
    EXPECT_LE(history.info()->bytes, size / 2);
    EXPECT_EQ(history.vacuum({.maxBytes = 0}, fromUsec<RealTime>(0), 1000)->more, false);
    const auto pages = number("PRAGMA page_count");
    EXPECT_TRUE(history.write({receipts}));
    EXPECT_LE(number("PRAGMA page_count"), pages); // the file does not grow, because the new receipts use free pages
}

TEST_F(HistoryFile, aReaderRemovesNothing) {
    ASSERT_TRUE(open().write({mixed()}));
    auto reader = open(History::Mode::ReadOnly);
    EXPECT_EQ(reader.vacuum({.maxAge = 0s}, fromUsec<RealTime>(1000), 100).error().code, ErrorCode::Internal);
    EXPECT_EQ(reader.info()->rows, 7U);
    expectMixed(reader);
}

TEST_F(HistoryFile, aVacuumThatFailsRemovesNothing) {
    auto history = open();
    ASSERT_TRUE(history.write({mixed()}));
    sql("CREATE TRIGGER broken BEFORE DELETE ON receipts WHEN old.id = 'slow' BEGIN SELECT raise(FAIL, 'disk full'); END");
    EXPECT_FALSE(history.vacuum({.maxAge = 0s}, fromUsec<RealTime>(1000), 100));
    expectMixed(history);
}

class UnsentReceipts : public HistoryFile {
protected:
    UnsentReceipts() {
        std::filesystem::create_directories(sentFile.parent_path());
        EXPECT_TRUE(history.write({mixed()}));
    }
    void sent(std::uint64_t sequence) const { sent(*history.list({})->front().epoch, sequence); }
    void sent(const std::string& epoch, std::uint64_t sequence) const {
        std::ofstream(sentFile) << encode(SentPosition{epoch, sequence, {}});
    }
    Vacuumed vacuum(Retention retention, std::uint64_t maxUnsent = kInfinity) {
        retention.unsent = KeepUnsent{sentFile, maxUnsent};
        const auto done = history.vacuum(retention, fromUsec<RealTime>(1000), 100);
        EXPECT_TRUE(done) << done.error().message;
        return done ? *done : Vacuumed{};
    }
    std::uint64_t unsent() const { return *history.unsent(sentFile); }

    static constexpr std::uint64_t kInfinity = UINT64_MAX;
    std::filesystem::path sentFile = top() / "ship/sent";
    History history = open();
};

TEST_F(UnsentReceipts, stayWithoutAFile) {
    EXPECT_EQ(vacuum({.maxAge = 1us, .maxBytes = 1}).removed, 0U);
    expectMixed(history);
    EXPECT_EQ(unsent(), 7U);
}

TEST_F(UnsentReceipts, stayWhenTheFileIsAboutAnotherHistory) {
    sent("another", 7);
    EXPECT_EQ(vacuum({.maxAge = 1us, .maxBytes = 1}).removed, 0U);
    EXPECT_EQ(unsent(), 7U);
}

TEST_F(UnsentReceipts, stayWhenSentOnesGoForTheirAge) {
    sent(3);
    EXPECT_EQ(unsent(), 4U);
    const auto done = vacuum({.maxAge = 1us});
    EXPECT_EQ(done.removed, 3U);
    EXPECT_EQ(done.unsent, 0U);
    EXPECT_FALSE(done.more);
    EXPECT_EQ(idsOf(history.list({})), (Ids{"slow2", "unknown", "stopped", "messy"}));
    EXPECT_EQ(unsent(), 4U);
}

TEST_F(UnsentReceipts, stayWhenSentOnesGoForTheirSize) {
    sent(6);
    EXPECT_EQ(vacuum({.maxBytes = 1}).removed, 6U) << "of all users";
    EXPECT_EQ(idsOf(history.list({})), Ids{"slow2"});
}

TEST_F(UnsentReceipts, goAboveTheHardLimitAfterTheSentOnes) {
    sent(3);
    const auto age = vacuum({.maxAge = 1us}, 1);
    EXPECT_EQ(age.removed, 7U);
    EXPECT_EQ(age.unsent, 4U);
    EXPECT_EQ(idsOf(history.list({})), Ids{});
    EXPECT_EQ(unsent(), 0U);
}

TEST_F(UnsentReceipts, goForTheirSizeOnlyIfBothLimitsAreExceeded) {
    const auto bytes = history.info()->bytes;
    EXPECT_EQ(vacuum({.maxBytes = 1}, bytes).removed, 0U);
    EXPECT_EQ(vacuum({.maxBytes = bytes}, 1).removed, 0U);
    const auto done = vacuum({.maxBytes = 1}, 1);
    EXPECT_EQ(done.removed, 7U);
    EXPECT_EQ(done.unsent, 7U);
}

TEST_F(UnsentReceipts, aPositionAboveAllReceiptsIsHarmless) {
    sent(UINT64_MAX);
    EXPECT_EQ(unsent(), 0U);
    EXPECT_EQ(vacuum({}).removed, 0U);
    EXPECT_EQ(vacuum({.maxAge = 1us}).removed, 7U);
}

TEST_F(UnsentReceipts, areCountedInAnEmptyHistory) {
    EXPECT_EQ(vacuum({.maxAge = 1us}, 0).unsent, 7U);
    EXPECT_EQ(unsent(), 0U);
    ASSERT_TRUE(history.write({{receipt("new", "sge.9", 990)}}));
    EXPECT_EQ(unsent(), 1U);
    sent(7);
    EXPECT_EQ(unsent(), 1U);
    sent(8);
    EXPECT_EQ(unsent(), 0U);
}

} // namespace pinfold::test
