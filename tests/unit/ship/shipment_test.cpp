// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ship/shipment.hpp"

#include "tests/unit/ship/fake_ends.hpp"

#include <gtest/gtest.h>

#include <random>

namespace pinfold::test {
namespace {

const Error kAway{ErrorCode::Unreachable, "connection refused"};

class ShipmentTest : public ::testing::Test {
protected:
    void restart(const std::string& epoch = "") {
        shipment.emplace(node, archive, epoch, [this](const std::string& name, std::uint64_t sequence) {
            sent = {name, sequence};
        });
    }
    Shipment::Step step() { return shipment->step(); }
    /// Sends receipts until the archive has all receipts of the node.
    void drain() {
        for (int steps = 0; steps < 100; ++steps) {
            const auto done = step();
            if (!done.failure && !done.more)
                return;
        }
        FAIL() << "more than 100 steps";
    }
    void expectEverything() const {
        for (const auto& receipt : node.receipts) {
            const auto row = archive.rows.find(receipt.id);
            ASSERT_NE(row, archive.rows.end()) << receipt.id;
            EXPECT_EQ(row->second, receipt);
        }
        EXPECT_EQ(sent, (std::pair{node.epoch, node.last}));
        EXPECT_EQ(shipment->unsent(), 0U);
    }

    FakeNode node;
    FakeArchive archive;
    std::pair<std::string, std::uint64_t> sent;
    std::optional<Shipment> shipment;

    ShipmentTest() { restart(); }
};

TEST_F(ShipmentTest, sendsAllReceiptsInLots) {
    node.add(1200);
    auto done = step();
    EXPECT_TRUE(done.more);
    EXPECT_EQ(done.receipts, 500U);
    EXPECT_EQ(sent.second, 500U);
    EXPECT_EQ(archive.newest, 1200U) << "the archive knows from the first lot on how far it is behind";
    drain();
    EXPECT_EQ(archive.rows.size(), 1200U);
    expectEverything();
}

TEST_F(ShipmentTest, sendsTheProfileOfEachNewReceipt) {
    node.addOne().profile = "first";
    node.addOne();
    drain();
    EXPECT_EQ(archive.profiles, (std::map<std::string, std::string>{{"first-1", "first"}}));
    archive.lots.clear();
    restart();
    node.addOne().profile = "third";
    drain();
    ASSERT_EQ(archive.lots.size(), 2U) << "the receipts that a report may have changed, and the new one";
    EXPECT_EQ(archive.lots[0].profiles, (std::vector<std::string>{"", ""})) << "a report changes no profile";
    EXPECT_EQ(archive.lots[1].profiles, std::vector<std::string>{"third"});
}

TEST_F(ShipmentTest, withoutReceiptsSaysThatTheNodeLives) {
    EXPECT_FALSE(step().failure);
    EXPECT_TRUE(archive.lots.empty()) << "a node that has never had a receipt has no epoch";
    node.add(3);
    drain();
    archive.lots.clear();
    EXPECT_EQ(step().receipts, 0U);
    ASSERT_EQ(archive.lots.size(), 1U);
    EXPECT_EQ(archive.lots[0].first, 4U);
    EXPECT_EQ(archive.lots[0].last, 3U);
    EXPECT_EQ(archive.lots[0].newest, 3U);
}

TEST_F(ShipmentTest, aNodeWithoutReceiptsFindsOutWhetherTheArchiveTakesReceipts) {
    archive.failures = {Error{ErrorCode::Denied, "the archive refuses the certificate"}};
    const auto failed = step();
    ASSERT_TRUE(failed.failure);
    EXPECT_EQ(failed.failure->side, Shipment::Side::Archive);
    EXPECT_FALSE(step().failure);
}

TEST_F(ShipmentTest, aNodeThatHasRemovedAllItsReceiptsLivesToo) {
    archive.positions["first"] = 7;
    restart("first");
    EXPECT_FALSE(step().failure);
    EXPECT_EQ(archive.lots.back().first, 8U);
    EXPECT_EQ(sent, (std::pair<std::string, std::uint64_t>{"first", 7}));
}

TEST_F(ShipmentTest, anAnswerThatIsLostMeansTheSameLotAgain) {
    node.add(10);
    archive.loseAnswer = true;
    const auto failed = step();
    ASSERT_TRUE(failed.failure);
    EXPECT_EQ(failed.failure->side, Shipment::Side::Archive);
    EXPECT_EQ(sent.second, 0U) << "pinfoldd keeps receipts until the archive has said that it has them";
    node.add(5);
    drain();
    EXPECT_EQ(archive.rows.size(), 15U);
    expectEverything();
}

TEST_F(ShipmentTest, nothingIsLostWhenAnythingFails) {
    std::mt19937 random(7);
    std::uint64_t expected = 0;
    for (int round = 0; round < 200; ++round) {
        for (auto count = random() % 40; count > 0; --count, ++expected)
            node.addOne();
        switch (random() % 6) {
        case 0:
            archive.failures.assign(random() % 3 + 1, kAway);
            break;
        case 1:
            node.failures.assign(random() % 3 + 1, kAway);
            break;
        case 2:
            archive.loseAnswer = true;
            break;
        case 3:
            restart(random() % 2 ? node.epoch : "");
            break;
        case 4: // the archive is restored from a backup
            archive.positions[node.epoch] -= std::min<std::uint64_t>(archive.positions[node.epoch], random() % 50);
            break;
        default:
            break;
        }
        (void)step();
        (void)step();
    }
    archive.failures.clear();
    node.failures.clear();
    archive.loseAnswer = false;
    drain();
    EXPECT_EQ(archive.rows.size(), expected);
    EXPECT_TRUE(archive.gaps["first"].empty());
    expectEverything();
}

TEST_F(ShipmentTest, removedReceiptsAreExactlyTheGap) {
    node.add(3);
    drain();
    node.add(10);
    node.remove(5, 8);
    node.remove(12, 12);
    drain();
    EXPECT_EQ(archive.gaps["first"], (std::vector<std::uint64_t>{5, 6, 7, 8, 12}));
    expectEverything();
}

TEST_F(ShipmentTest, aRestoredArchiveGetsWhatItLost) {
    node.add(50);
    drain();
    std::erase_if(archive.rows, [](const auto& row) { return *row.second.sequence > 20; });
    archive.positions["first"] = 20;
    node.add(1);
    EXPECT_TRUE(step().more) << "the archive is behind, so its position is asked again";
    drain();
    EXPECT_EQ(archive.rows.size(), 51U);
    expectEverything();
}

TEST_F(ShipmentTest, anArchiveThatStaysBehindIsAFailure) {
    class Behind : public FakeArchive {
    public:
        Result<std::uint64_t> put(const Lot&) override { return Error{ErrorCode::InvalidArgument, "the lot begins too late"}; }
    } behind;
    node.add(5);
    Shipment sender(node, behind, "", [](const std::string&, std::uint64_t) {});
    EXPECT_FALSE(sender.step().failure) << "the position is asked again";
    for (int steps = 0; steps < 3; ++steps) {
        const auto failed = sender.step();
        ASSERT_TRUE(failed.failure);
        EXPECT_EQ(failed.failure->side, Shipment::Side::Archive);
    }
}

TEST_F(ShipmentTest, aNewHistoryIsSentFromItsBeginning) {
    node.add(30);
    drain();
    node.replaceHistory("second");
    node.add(4);
    drain();
    EXPECT_EQ(archive.rows.size(), 34U);
    EXPECT_EQ(archive.positions["first"], 30U);
    EXPECT_EQ(archive.positions["second"], 4U);
    expectEverything();
}

TEST_F(ShipmentTest, anOlderCopyOfTheHistoryLosesNoReceipt) {
    node.add(30);
    drain();
    node.remove(11, 30);
    node.last = 10;
    restart();
    drain();
    for (int n = 0; n < 3; ++n)
        node.addOne().id += "-of-the-copy";
    drain();
    EXPECT_EQ(archive.rows.size(), 33U);
}

TEST_F(ShipmentTest, anAmendedReceiptIsSentAgain) {
    node.add(5);
    node.receipts[1].exit.status.reset();
    drain();
    EXPECT_FALSE(archive.rows["first-2"].exit.status);
    node.receipts[1].exit.status = 3;
    shipment->amended("sge.2");
    archive.failures = {kAway};
    EXPECT_TRUE(step().failure) << "a failure does not make Shipment forget it";
    drain();
    EXPECT_EQ(archive.rows["first-2"].exit.status, 3);
}

TEST_F(ShipmentTest, aReceiptThatWasAmendedBeforeItWasSentIsSentOnce) {
    node.add(2);
    drain();
    node.addOne();
    shipment->amended("sge.3");
    archive.lots.clear();
    drain();
    EXPECT_EQ(archive.lots.size(), 1U);
    expectEverything();
}

TEST_F(ShipmentTest, whatWasAmendedBeforeTheStartIsFound) {
    node.add(800);
    node.receipts[250].exit.status.reset();
    node.receipts[350].exit.status.reset();
    drain();
    node.receipts[250].exit.status = 3;
    node.receipts[350].exit.status = 4;
    restart();
    drain();
    EXPECT_EQ(archive.rows["first-351"].exit.status, 4);
    EXPECT_FALSE(archive.rows["first-251"].exit.status) << "only the last 500 are sent again";
    EXPECT_TRUE(archive.gaps["first"].empty());
}

TEST_F(ShipmentTest, aFloodOfAmendmentsHasABound) {
    node.add(600);
    for (auto& receipt : node.receipts)
        receipt.exit.status.reset();
    drain();
    for (auto& receipt : node.receipts) {
        receipt.exit.status = 1;
        for (int n = 0; n < 3; ++n)
            shipment->amended(receipt.key + "." + std::to_string(n));
    }
    archive.lots.clear();
    drain();
    EXPECT_EQ(archive.rows["first-600"].exit.status, 1);
    EXPECT_LE(archive.lots.size(), Shipment::kMostAmended);
}

TEST_F(ShipmentTest, aLotThatFailsGetsSmaller) {
    class Slow : public FakeArchive {
    public:
        Result<std::uint64_t> put(const Lot& lot) override {
            return lot.receipts.size() > 100 ? Error{ErrorCode::TimedOut, "no answer within 60 s"} : FakeArchive::put(lot);
        }
    } slow;
    node.add(600);
    Shipment sender(node, slow, "", [](const std::string&, std::uint64_t) {});
    for (int steps = 0; steps < 60 && slow.positions["first"] < 600; ++steps)
        (void)sender.step();
    EXPECT_EQ(slow.positions["first"], 600U);
}

TEST_F(ShipmentTest, anArchiveThatTakesNothingIsAFailure) {
    class Liar : public FakeArchive {
    public:
        Result<std::uint64_t> put(const Lot&) override { return std::uint64_t{0}; }
    } liar;
    node.add(3);
    Shipment sender(node, liar, "", [](const std::string&, std::uint64_t sequence) { EXPECT_EQ(sequence, 0U); });
    const auto failed = sender.step();
    ASSERT_TRUE(failed.failure);
    EXPECT_NE(failed.failure->error.message.find("only up to number 0"), std::string::npos) << failed.failure->error.message;
}

TEST_F(ShipmentTest, receiptsWithoutASequenceAreAFailure) {
    class Odd : public NodeReceipts {
    public:
        Result<std::vector<Receipt>> list(const ReceiptFilter&) override { return std::vector<Receipt>(3); }
    } odd;
    Shipment sender(odd, archive, "first", [](const std::string&, std::uint64_t) {});
    const auto failed = sender.step();
    ASSERT_TRUE(failed.failure);
    EXPECT_EQ(failed.failure->side, Shipment::Side::Node);
}

TEST_F(ShipmentTest, knowsWhetherAFailedJobWaits) {
    node.addOne(7);
    EXPECT_FALSE(shipment->hasFailedJob()) << "not before the first step";
    drain();
    EXPECT_FALSE(shipment->hasFailedJob()) << "it is in the archive";
    node.add(2);
    EXPECT_FALSE(shipment->hasFailedJob());
    node.addOne(7);
    EXPECT_TRUE(shipment->hasFailedJob());
    node.failures = {kAway};
    EXPECT_FALSE(shipment->hasFailedJob());
}

TEST_F(ShipmentTest, knowsWhetherTheFirstJobOfTheNodeHasFailed) {
    drain();
    node.addOne();
    shipment->stored("first", 1);
    EXPECT_EQ(shipment->unsent(), 1U);
    EXPECT_FALSE(shipment->hasFailedJob());
    node.addOne(7);
    shipment->stored("first", 2);
    EXPECT_TRUE(shipment->hasFailedJob());
    drain();
    expectEverything();
}

TEST_F(ShipmentTest, theBacklogIsKnownFromSignals) {
    node.add(2);
    drain();
    shipment->stored("first", 9);
    EXPECT_EQ(shipment->unsent(), 7U);
    shipment->stored("another", 900);
    EXPECT_EQ(shipment->unsent(), 7U);
}

} // namespace
} // namespace pinfold::test
