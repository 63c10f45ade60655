// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the profiles of jobs, which are in a table of their own and are removed together with the receipts.
#include "history_fixture.hpp"

#include "store/history_schema.hpp"

namespace pinfold::test {
namespace {

Receipt withProfile(const std::string& id, const std::string& profile, std::uint64_t ended = 100) {
    auto made = receipt(id, "sge." + id, ended);
    made.profile = profile;
    return made;
}

const std::string kBytes("\x01\x00\xff\x00'", 5);

TEST_F(HistoryFile, aProfileComesBackByteForByte) {
    auto history = open();
    ASSERT_TRUE(history.write({{withProfile("a", kBytes), withProfile("b", "")}}));
    EXPECT_EQ(*history.profile("a"), kBytes);
    EXPECT_EQ(*history.profile("b"), "");
    EXPECT_EQ(*history.profile("c"), "");
    EXPECT_EQ(*open(History::Mode::ReadOnly).profile("a"), kBytes);
    EXPECT_EQ(history.list(filter("sge.a"))->front().profile, "") << "list() does not read profiles";
}

TEST_F(HistoryFile, aReceiptThatComesTwiceKeepsItsFirstProfile) {
    auto history = open();
    ASSERT_TRUE(history.write({{withProfile("a", kBytes)}}));
    ASSERT_TRUE(history.write({{withProfile("a", "other")}}));
    EXPECT_EQ(*history.profile("a"), kBytes);
}

TEST_F(HistoryFile, aProfileGoesWithItsReceipt) {
    auto history = open();
    ASSERT_TRUE(history.write({{withProfile("a", kBytes, 100), withProfile("b", kBytes, 500)}}));
    const auto done = history.vacuum({.maxAge = 100us}, fromUsec<RealTime>(550), 10);
    ASSERT_TRUE(done);
    EXPECT_EQ(done->removed, 1U) << "a profile does not count as a receipt";
    EXPECT_EQ(number("SELECT count(*) FROM profiles"), 1U);
    EXPECT_EQ(*history.profile("b"), kBytes);
}

TEST_F(HistoryFile, profilesCountForTheSizeOfTheHistory) {
    auto history = open();
    std::vector<Receipt> receipts;
    for (int i = 0; i < 400; ++i)
        receipts.push_back(withProfile("id" + std::to_string(i), std::string(3000, 'x'), static_cast<std::uint64_t>(1000 + i)));
    ASSERT_TRUE(history.write({receipts}));
    const auto before = history.info()->bytes;
    EXPECT_GT(before, 400U * 3000);
    const auto done = history.vacuum({.maxBytes = before / 2}, fromUsec<RealTime>(2000), 1000);
    ASSERT_TRUE(done);
    EXPECT_LE(done->bytes, before / 2);
    EXPECT_EQ(number("SELECT count(*) FROM profiles"), number("SELECT count(*) FROM receipts"));
    EXPECT_EQ(number("PRAGMA freelist_count"), 0U) << "the room of the profiles was given back";
}

TEST_F(HistoryFile, aFileOfSchema4GetsATableForProfiles) {
    ASSERT_TRUE(open().write({mixed()}));
    downgradeToSchema4();
    EXPECT_EQ(*open(History::Mode::ReadOnly).profile("ok"), "");
    auto history = open();
    EXPECT_EQ(number("PRAGMA user_version"), kHistorySchema);
    expectMixed(history);
    ASSERT_TRUE(history.write({{withProfile("a", kBytes)}}));
    EXPECT_EQ(*history.profile("a"), kBytes);
}

} // namespace
} // namespace pinfold::test
