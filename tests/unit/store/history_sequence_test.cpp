// SPDX-License-Identifier: LGPL-2.1-or-later
// The tests of this file check the number that the history gives to each receipt. Some tests check queries that return
// receipts in the order of the numbers.
#include "history_fixture.hpp"

#include "store/history_file.hpp"
#include "store/history_schema.hpp"

namespace pinfold::test {
namespace {

using Numbers = std::vector<std::uint64_t>;

Numbers numbersOf(const Result<std::vector<Receipt>>& receipts) {
    Numbers numbers;
    EXPECT_TRUE(receipts) << receipts.error().message;
    if (receipts)
        for (const auto& one : *receipts)
            numbers.push_back(one.sequence.value_or(0));
    return numbers;
}

ReceiptFilter after(std::uint64_t sequence, ReceiptFilter filter = {}) {
    filter.after = sequence;
    return filter;
}

Receipt labelled(Receipt receipt, Labels labels) {
    receipt.identity.labels = std::move(labels);
    return receipt;
}

TEST_F(HistoryFile, receiptsAreNumberedWithoutGaps) {
    auto history = open();
    EXPECT_EQ(numbersOf(history.write({mixed()})), (Numbers{1, 2, 3, 4, 5, 6, 7}));
    const auto again = history.write({{receipt("ok", "sge.1", 999), receipt("new", "sge.8", 1)}});
    EXPECT_EQ(numbersOf(again), (Numbers{1, 8})) << "a receipt that is stored already takes no number";
    EXPECT_EQ((*again)[0].ended, fromUsec<RealTime>(100)) << "and does not change";
    EXPECT_EQ(numbersOf(history.list(after(0))), (Numbers{1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(idsOf(history.list({})).back(), "new") << "the order of the ends is another";
    const auto listed = history.list({});
    EXPECT_EQ(listed->front().sequence, 7U);
    EXPECT_EQ(listed->front().epoch, (*again)[0].epoch);
    EXPECT_EQ(listed->front().epoch->size(), 16U);
}

TEST_F(HistoryFile, aRowThatSomebodyElseAddedCostsNoReceipt) {
    auto history = open();
    ASSERT_TRUE(history.write({{receipt("a", "sge.1", 100)}}));
    sql("INSERT INTO receipts (id, key, uid, ended, receipt) SELECT 'b', key, uid, ended, receipt FROM receipts");
    EXPECT_EQ(numbersOf(history.write({{receipt("c", "sge.2", 100)}})), Numbers{3});
    EXPECT_EQ(idsOf(history.list({})).size(), 3U);
}

TEST_F(HistoryFile, aFailedTransactionLeavesNoGap) {
    auto history = open();
    ASSERT_TRUE(history.write({{receipt("a", "sge.1", 100)}}));
    sql("CREATE TRIGGER refuse BEFORE INSERT ON receipts WHEN new.id = 'c' BEGIN SELECT raise(ABORT, 'no'); END");
    EXPECT_FALSE(history.write({{receipt("b", "sge.2", 100), receipt("c", "sge.3", 100)}}));
    sql("DROP TRIGGER refuse");
    EXPECT_EQ(numbersOf(history.write({{receipt("d", "sge.4", 100)}})), Numbers{2});
}

TEST_F(HistoryFile, aNumberIsNeverUsedAgain) {
    std::optional<std::string> epoch;
    {
        auto history = open();
        const auto stored = history.write({mixed()});
        epoch = stored->front().epoch;
        ASSERT_TRUE(history.vacuum({.maxAge = 1us}, fromUsec<RealTime>(10'000'000'000), 1000));
        ASSERT_EQ(idsOf(history.list({})), Ids{});
    }
    auto history = open();
    const auto stored = history.write({{receipt("a", "sge.1", 100)}});
    EXPECT_EQ(numbersOf(stored), Numbers{8});
    EXPECT_EQ(stored->front().epoch, epoch) << "it is the same history";
}

TEST_F(HistoryFile, aReceiptThatIsAmendedKeepsItsNumber) {
    auto history = open();
    ASSERT_TRUE(history.write({{ended(receipt("a", "sge.1", 100), JobResult::Exited, {}), receipt("b", "sge.2", 200)}}));
    ASSERT_TRUE(history.write({.reports = {{.id = "a", .exit = {.status = 3, .signal = {}}}}}));
    const auto first = history.list(after(0, filter({}, {}, {}, {}, 1)));
    EXPECT_EQ(numbersOf(first), Numbers{1});
    EXPECT_EQ(first->front().exit.status, 3);
    EXPECT_EQ(number("SELECT count(*) FROM receipts WHERE receipt LIKE '%sequence%' OR receipt LIKE '%epoch%'"), 0U)
        << "the row has the number";
}

TEST_F(HistoryFile, aListAfterANumberGoesOnWithTheLowest) {
    auto history = open();
    ASSERT_TRUE(history.write({mixed()}));
    EXPECT_EQ(numbersOf(history.list(after(5))), (Numbers{6, 7}));
    EXPECT_EQ(numbersOf(history.list(after(7))), Numbers{});
    EXPECT_EQ(numbersOf(history.list(after(INT64_MAX))), Numbers{});
    EXPECT_EQ(numbersOf(history.list(after(1, filter({}, {}, {}, {}, 2)))), (Numbers{2, 3}));
    EXPECT_EQ(numbersOf(history.list(after(0, of(1, {})))), (Numbers{1, 2, 5, 7}));
    EXPECT_EQ(numbersOf(history.list(after(2, of(1, kinds("timeout"))))), Numbers{7});
    EXPECT_EQ(numbersOf(history.list(after(0, kinds({}, "sge")))), (Numbers{1, 2, 3}));
    EXPECT_EQ(numbersOf(history.list(after(0, kinds({}, {}, true)))), (Numbers{4, 5}));
    EXPECT_EQ(numbersOf(history.list(after(0, kinds("no such word")))), Numbers{});
    EXPECT_EQ(numbersOf(history.list(after(4, filter("pbs.1")))), Numbers{5});
    EXPECT_EQ(numbersOf(history.list(after(0, filter({}, {}, 300, 500)))), (Numbers{3, 4}));
}

TEST_F(HistoryFile, theListOfOneUserReadsTheIndexOfThatUser) {
    ASSERT_TRUE(open().write({mixed()}));
    EXPECT_EQ(number("SELECT count(*) FROM pragma_index_info('by_owner')"), 1U);
}

TEST_F(HistoryFile, afterCountsFromTheBeginningInAnotherEpoch) {
    auto history = open();
    const auto epoch = history.write({mixed()})->front().epoch;
    auto place = after(5);
    place.epoch = epoch;
    EXPECT_EQ(numbersOf(history.list(place)), (Numbers{6, 7}));
    place.epoch = "an earlier history";
    EXPECT_EQ(numbersOf(history.list(place)), (Numbers{1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(HistoryFile, aHistoryAfterALossHasAnotherEpoch) {
    pinfold::HistoryFile kept(file());
    const auto put = [&](const std::string& id) {
        return kept.use<std::vector<Receipt>>([&](History& history) { return history.write({{receipt(id, "sge.1", 100)}}); });
    };
    const auto before = put("a");
    ASSERT_TRUE(before);
    std::filesystem::rename(file(), file().string() + ".away");
    std::filesystem::remove(file().string() + "-wal");
    std::filesystem::remove(file().string() + "-shm");
    const auto later = put("b");
    ASSERT_TRUE(later) << later.error().message;
    EXPECT_EQ(later->front().sequence, 1U);
    EXPECT_NE(later->front().epoch, before->front().epoch);
}

TEST_F(HistoryFile, theReceiptsOfAnOlderPinfoldKeepTheirNumbers) {
    ASSERT_TRUE(open().write({mixed()}));
    sql("DELETE FROM receipts WHERE number IN (2, 3)");
    downgradeToSchema4();
    const auto reader = open(History::Mode::ReadOnly);
    EXPECT_EQ(idsOf(reader.list({})), (Ids{"slow2", "unknown", "stopped", "messy", "ok"})) << "no pinfoldd has opened it yet";
    EXPECT_FALSE(reader.list(after(0)));
    auto history = open();
    EXPECT_EQ(number("PRAGMA user_version"), kHistorySchema);
    EXPECT_EQ(numbersOf(history.list(after(0))), (Numbers{1, 4, 5, 6, 7}));
    EXPECT_EQ(numbersOf(history.write({{receipt("new", "sge.1", 1)}})), Numbers{8});
}

TEST_F(HistoryFile, labelsAreFound) {
    auto history = open();
    ASSERT_TRUE(history.write(
        {{labelled(receipt("a", "sge.1", 100, 1), {{"project", "x"}}),
          labelled(receipt("b", "sge.2", 200, 2), {{"project", "y"}, {"empty", ""}}),
          labelled(receipt("c", "pbs.3", 300, 1), {{"a.b-c_d", "it's; DROP TABLE receipts"}}), receipt("d", "sge.4", 400, 1)}}));
    const auto with = [](const char* text, ReceiptFilter filter = {}) {
        filter.label = *labelFilter(text);
        return filter;
    };
    EXPECT_EQ(idsOf(history.list(with("project"))), (Ids{"b", "a"}));
    EXPECT_EQ(idsOf(history.list(with("project=x"))), Ids{"a"});
    EXPECT_EQ(idsOf(history.list(with("project="))), Ids{});
    EXPECT_EQ(idsOf(history.list(with("empty="))), Ids{"b"});
    EXPECT_EQ(idsOf(history.list(with("a.b-c_d=it's; DROP TABLE receipts"))), Ids{"c"});
    EXPECT_EQ(idsOf(history.list(with("a"))), Ids{}) << "a dot in a name is no path";
    EXPECT_EQ(idsOf(history.list(with("project", of(1, {})))), Ids{"a"});
    EXPECT_EQ(idsOf(history.list(with("project", kinds({}, "sge", true)))), (Ids{"b", "a"}));
    EXPECT_EQ(idsOf(history.list(with("project", after(1)))), Ids{"b"});
    sql("UPDATE receipts SET receipt = '{\"labels\":{' || receipt WHERE id = 'd'");
    EXPECT_EQ(idsOf(history.list(with("project"))), (Ids{"b", "a"})) << "a damaged receipt does not spoil the query";
}

} // namespace
} // namespace pinfold::test
