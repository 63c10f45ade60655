// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ship/shipper.hpp"

#include "tests/unit/ship/fake_ends.hpp"

#include <gtest/gtest.h>

namespace pinfold::test {
namespace {

class ShipperTest : public ::testing::Test {
protected:
    ShipperTest() {
        shipper.busFound();
        shipper.turn();
        archive.lots.clear();
    }

    /// Adds receipts to the node, and passes the signal ReceiptsStored to the shipper.
    void store(std::uint64_t number, int exitStatus = 0) {
        const auto first = node.last + 1;
        for (std::uint64_t n = 0; n < number; ++n)
            node.addOne(exitStatus);
        shipper.heard({.name = kReceiptsStored, .stored = StoredEvent{node.epoch, first, node.last}});
    }
    /// Advances the clock, and calls the shipper whenever the shipper is due, as main() does.
    void advance(Microseconds time) {
        const auto end = now + time;
        while (shipper.next() <= end) {
            now = std::max(now, shipper.next());
            shipper.turn();
        }
        now = end;
    }

    BootTime now{1h};
    FakeNode node;
    FakeArchive archive;
    Shipment shipment{node, archive, "", [](const std::string&, std::uint64_t) {}};
    Schedule schedule{now, [] { return 0; }};
    Progress progress;
    std::vector<Progress::Line> lines;
    Shipper shipper{{shipment, schedule, progress, [this](const Progress::Line& line) { lines.push_back(line); }, [] {},
                     [this] { return now; }, [this] { return RealTime(now.time_since_epoch()); }}};
};

TEST_F(ShipperTest, receiptsOfGoodJobsWaitForALargerLot) {
    store(2);
    advance(20s);
    EXPECT_EQ(archive.rows.size(), 0U);
    store(2);
    advance(Schedule::kLongest);
    EXPECT_EQ(archive.rows.size(), 4U);
    EXPECT_EQ(archive.lots.size(), 1U);
}

TEST_F(ShipperTest, aFailedJobIsSentAtOnce) {
    store(2);
    advance(Schedule::kLongest);
    store(1, 7);
    advance(Shipper::kLook);
    EXPECT_EQ(archive.rows.size(), 3U);
}

TEST_F(ShipperTest, theFirstJobOfTheNodeIsSentAtOnceIfItHasFailed) {
    advance(1h);
    store(1, 7);
    advance(Shipper::kLook);
    EXPECT_EQ(archive.rows.size(), 1U);
}

TEST_F(ShipperTest, theFirstReceiptsOfTheNodeAreSentAtOnceIfTheyFillALot) {
    store(Lot::kMostReceipts);
    advance(0s);
    EXPECT_EQ(archive.rows.size(), Lot::kMostReceipts);
}

TEST_F(ShipperTest, aFullLotIsSentAtOnce) {
    store(1);
    advance(Schedule::kLongest);
    store(Lot::kMostReceipts);
    advance(0s);
    EXPECT_EQ(archive.rows.size(), Lot::kMostReceipts + 1);
}

TEST_F(ShipperTest, pinfolddIsNotAskedForEachSignal) {
    store(1);
    advance(Schedule::kLongest);
    const auto asked = node.asked;
    for (int n = 0; n < 100; ++n)
        store(1);
    advance(Shipper::kLook);
    EXPECT_EQ(node.asked, asked + 1);
}

TEST_F(ShipperTest, withoutJobsTheArchiveHearsOfTheNode) {
    store(1);
    advance(Schedule::kLongest);
    archive.lots.clear();
    advance(1h);
    EXPECT_GE(archive.lots.size(), 12U);
    EXPECT_LE(archive.lots.size(), 16U);
}

TEST_F(ShipperTest, anArchiveThatIsAwayIsAskedRarely) {
    store(1, 7);
    archive.failures.assign(1000, Error{ErrorCode::Unreachable, "connection refused"});
    advance(24h);
    EXPECT_LT(1000 - archive.failures.size(), 24U * 13) << "a pause of at least five minutes";
    EXPECT_EQ(lines.size(), 1U);
    archive.failures.clear();
    advance(Schedule::kMostRetry);
    EXPECT_EQ(archive.rows.size(), 1U);
    EXPECT_EQ(lines.size(), 2U);
}

TEST_F(ShipperTest, aNewPinfolddEndsThePause) {
    store(1);
    node.failures.assign(8, Error{ErrorCode::Unreachable, "pinfoldd does not run"});
    advance(10min);
    node.failures.assign(1000, Error{ErrorCode::Unreachable, "pinfoldd does not run"});
    advance(10min);
    node.failures.clear();
    shipper.heard({.name = "daemon-started"});
    advance(0s);
    EXPECT_EQ(archive.rows.size(), 1U);
}

TEST_F(ShipperTest, anOlderCopyOfTheHistoryLosesNoReceipt) {
    store(30);
    advance(1min);
    ASSERT_EQ(archive.rows.size(), 30U);
    node.remove(11, 30);
    node.last = 10;
    shipper.heard({.name = "daemon-started"});
    advance(0s);
    EXPECT_EQ(shipment.unsent(), 0U);
    node.addOne().id = "the first of the copy";
    shipper.heard({.name = kReceiptsStored, .stored = StoredEvent{node.epoch, 11, 11}});
    advance(1min);
    EXPECT_TRUE(archive.rows.contains("the first of the copy"));
    EXPECT_EQ(archive.newest, 11U);
}

TEST_F(ShipperTest, aLateReportIsSentAgain) {
    store(1);
    node.receipts[0].exit.status.reset();
    advance(Schedule::kLongest);
    node.receipts[0].exit.status = 3;
    shipper.heard({.name = "receipt-amended", .job = "sge.1"});
    advance(Schedule::kLongest);
    EXPECT_EQ(archive.rows["first-1"].exit.status, 3);
}

TEST_F(ShipperTest, whatWasMissedWithoutTheBusIsSentAgain) {
    store(1);
    node.receipts[0].exit.status.reset();
    advance(Schedule::kLongest);
    shipper.busLost({ErrorCode::Unreachable, "the bus has gone"});
    node.receipts[0].exit.status = 3;
    shipper.busFound();
    advance(Schedule::kMostLocalRetry);
    EXPECT_EQ(archive.rows["first-1"].exit.status, 3);
    EXPECT_EQ(lines.size(), 2U);
}

} // namespace
} // namespace pinfold::test
