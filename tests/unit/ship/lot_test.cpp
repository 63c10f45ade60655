// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ship/lot.hpp"

#include "model/profile.hpp"
#include "model/receipt_json.hpp"
#include "ship/postgres_archive.hpp"

#include <gtest/gtest.h>

namespace pinfold::test {
namespace {

Receipt numbered(std::uint64_t sequence, const std::string& epoch = "e") {
    Receipt made;
    made.id = std::to_string(sequence);
    made.key = "sge." + made.id;
    made.sequence = sequence;
    made.epoch = epoch;
    return made;
}

TEST(Lot, takesReceiptsInOrder) {
    const auto lot = makeLot({numbered(5), numbered(6), numbered(9)}, "e", 4);
    EXPECT_EQ(lot.epoch, "e");
    EXPECT_EQ(lot.first, 4U);
    EXPECT_EQ(lot.last, 9U);
    EXPECT_EQ(lot.newest, 9U);
    ASSERT_EQ(lot.receipts.size(), 3U);
    EXPECT_EQ(decodeReceipt(lot.receipts[2])->sequence, 9U);
    EXPECT_EQ(decodeReceipt(lot.receipts[2])->epoch, "e");
}

TEST(Lot, endsWhereTheAnswerIsOdd) {
    EXPECT_EQ(makeLot({numbered(5), numbered(5)}, "e", 5).receipts.size(), 1U) << "the same sequence twice";
    EXPECT_EQ(makeLot({numbered(5), numbered(4)}, "e", 5).last, 5U) << "descending";
    EXPECT_EQ(makeLot({numbered(5), numbered(6, "other")}, "e", 5).last, 5U) << "another history begins";
    EXPECT_EQ(makeLot({numbered(4)}, "e", 5).last, 4U) << "below the first sequence";
    auto unnumbered = numbered(5);
    unnumbered.sequence.reset();
    EXPECT_TRUE(makeLot({unnumbered}, "e", 5).receipts.empty());
}

TEST(Lot, withoutReceiptsIsAHeartbeat) {
    const auto lot = makeLot({}, "e", 7);
    EXPECT_EQ(lot.first, 7U);
    EXPECT_EQ(lot.last, 6U);
    EXPECT_TRUE(lot.receipts.empty());
}

TEST(Lot, hasABoundInBytes) {
    std::vector<Receipt> receipts;
    for (std::uint64_t n = 1; n <= 10; ++n) {
        receipts.push_back(numbered(n));
        receipts.back().leftovers.commands = {std::string(Lot::kMostBytes / 4, 'x')};
    }
    const auto lot = makeLot(receipts, "e", 1);
    EXPECT_EQ(lot.receipts.size(), 3U);
    EXPECT_EQ(lot.last, 3U);
    receipts.front().leftovers.commands = {std::string(Lot::kMostBytes * 2, 'x')};
    EXPECT_EQ(makeLot(receipts, "e", 1).receipts.size(), 1U) << "one receipt always goes";
}

TEST(Lot, hasTheProfileOfEachReceipt) {
    std::vector<Receipt> receipts{numbered(1), numbered(2), numbered(3)};
    receipts[0].profile = std::string("\x01\x00", 2);
    receipts[2].profile = std::string(Profile::kMostBytes + 1, 'x');
    EXPECT_EQ(makeLot(receipts, "e", 1).profiles, (std::vector<std::string>{std::string("\x01\x00", 2), "", ""}))
        << "the archive would refuse a profile that is too large";
}

TEST(Lot, profilesCountForTheBound) {
    std::vector<Receipt> receipts;
    for (std::uint64_t n = 1; n <= Lot::kMostBytes / (2 * Profile::kMostBytes) + 1; ++n) {
        receipts.push_back(numbered(n));
        receipts.back().profile = std::string(Profile::kMostBytes, 'x');
    }
    EXPECT_LT(makeLot(receipts, "e", 1).receipts.size(), receipts.size());
}

TEST(BytesText, isHexadecimal) {
    EXPECT_EQ(bytesText(""), "");
    EXPECT_EQ(bytesText(std::string("\x00\xff'", 3)), "\\x00ff27");
}

TEST(ArrayText, quotesWhatAnArrayOfPostgresTreatsSpecially) {
    EXPECT_EQ(arrayText({}), "{}");
    EXPECT_EQ(arrayText({"a", "", "{,}", "q\"q", "b\\n", "NULL"}), "{\"a\",\"\",\"{,}\",\"q\\\"q\",\"b\\\\n\",\"NULL\"}");
}

} // namespace
} // namespace pinfold::test
