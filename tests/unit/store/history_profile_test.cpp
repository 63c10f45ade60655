// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the profiles of jobs. The profiles have a table of their own. A removal of a receipt also removes the receipt's profile.
#include "history_fixture.hpp"

#include "model/profile.hpp"
#include "store/history_schema.hpp"

#include <map>

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

TEST_F(HistoryFile, aListHasTheProfileOfEachReceiptIfAsked) {
    auto history = open();
    ASSERT_TRUE(history.write({{withProfile("a", kBytes), withProfile("b", ""), withProfile("c", "other")}}));
    const auto profilesOf = [&](ReceiptFilter filter) {
        filter.profiles = true;
        std::map<std::string, std::string> profiles;
        const auto receipts = history.list(filter);
        EXPECT_TRUE(receipts);
        for (const auto& receipt : *receipts)
            profiles[receipt.id] = receipt.profile;
        return profiles;
    };
    const std::map<std::string, std::string> expected{{"a", kBytes}, {"b", ""}, {"c", "other"}};
    EXPECT_EQ(profilesOf({}), expected);
    EXPECT_EQ(profilesOf({.after = 0}), expected);
    EXPECT_EQ(profilesOf({.key = "sge.c"}), (std::map<std::string, std::string>{{"c", "other"}}));
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

/// Returns a receipt as pinfoldd writes it for a job of a batch system.
Receipt usual() {
    auto made = receipt("", "slurm.1234567", 1'700'000'000'000'000);
    made.slots = 4;
    made.tasks = 1;
    made.usage.cpuUser = 3'600'000'000us;
    made.usage.cpuSystem = 60'000'000us;
    made.usage.cpuThrottled = 0us;
    made.usage.memoryPeak = 4ULL << 30;
    made.usage.memoryNeed = 3ULL << 30;
    made.usage.tasksPeak = 42;
    made.usage.ioRead = 123'456'789;
    made.usage.ioWritten = 987'654'321;
    made.usage.oomKills = 0;
    made.limits.memoryMax = 8ULL << 30;
    made.limits.runTimeMax = 3'600'000'000;
    made.identity.jobName = "relax_structure";
    made.identity.account = "physics";
    made.identity.queue = "long";
    made.identity.submitHost = "login1.example.org";
    made.identity.submitDirectory = "/home/alice/projects/structure";
    made.origin.host = "node0123.example.org";
    made.origin.cluster = "cluster1";
    made.leftovers = {};
    return made;
}

/// Returns a profile with almost the greatest number of points. The text of each number in the profile has many digits.
Profile longProfile() {
    Profile profile;
    for (std::size_t i = 0; i + 1 < Profile::kMostPoints; ++i) {
        ProfilePoint point{.length = 30s};
        for (std::size_t measure = 0; measure < point.mean.size(); ++measure)
            point.most[measure] = point.mean[measure] = static_cast<float>((i * 7919 + 31 * measure) % 100'003) * 4096.0F;
        profile.add(point);
    }
    return profile;
}

// pinfold.toml(5) states how much room a receipt takes, so that a site can choose history.max_size.
TEST_F(HistoryFile, aReceiptTakesAsMuchRoomAsThePageStates) {
    constexpr std::uint64_t kReceipts = 300;
    auto history = open();
    int batches = 0;
    const auto bytesOf = [&](const Receipt& receipt) {
        std::vector<Receipt> receipts(kReceipts, receipt);
        const auto name = "room" + std::to_string(batches++);
        for (std::uint64_t n = 0; n < kReceipts; ++n) {
            receipts[n].id = name + std::string(28, 'f') + std::to_string(n);
            receipts[n].key += std::to_string(n);
        }
        const auto before = history.info()->bytes;
        EXPECT_TRUE(history.write({receipts}));
        return (history.info()->bytes - before) / kReceipts;
    };
    auto made = usual();
    const auto plain = bytesOf(made);
    EXPECT_GE(plain, 1024U);
    EXPECT_LE(plain, 2048U);

    made.profile = encode(longProfile());
    EXPECT_LE(made.profile.size(), Profile::kMostBytes);
    EXPECT_GT(made.profile.size(), 2000U) << "the profile is full";
    const auto profiled = bytesOf(made);
    EXPECT_LE(profiled, plain + 4096 + 64) << "two full profiles do not fit into one page of the file";

    made.profile.clear();
    made.leftovers = {300, 2us, std::vector<std::string>(Leftovers::kMostCommands, std::string(100, 'x'))};
    made.leftovers.boundCommands();
    for (std::uint32_t number = 0; number < TaskReceipt::kMost; ++number)
        made.taskList.push_back({.number = number,
                                 .kind = TaskKind::Task,
                                 .command = "fifteen_letters",
                                 .started = made.started,
                                 .ended = made.ended,
                                 .exit = {.status = 0, .signal = {}},
                                 .cpu = 3'600'000'000us,
                                 .memoryPeak = 4ULL << 30,
                                 .exact = true});
    const auto largest = bytesOf(made);
    std::printf("bytes of a receipt: %llu, with a profile: %llu, with 64 tasks and 8 KiB of command lines: %llu\n",
                static_cast<unsigned long long>(plain), static_cast<unsigned long long>(profiled),
                static_cast<unsigned long long>(largest));
    EXPECT_LE(largest, 24U * 1024);
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
