// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests that pinfold can read all data in the histories of its earlier versions. The files of tests/support/earlier contain
// histories of earlier versions.
#include "history_fixture.hpp"

#include "store/history_schema.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace pinfold::test {
namespace {

class StoredHistory : public HistoryFile, public testing::WithParamInterface<int> {
protected:
    void SetUp() override {
        std::ifstream dump(std::string(PINFOLD_EARLIER) + "/schema-" + std::to_string(GetParam()) + ".sql");
        ASSERT_TRUE(dump);
        std::filesystem::create_directories(file().parent_path());
        sql({std::istreambuf_iterator<char>(dump), {}});
        ASSERT_EQ(number("PRAGMA user_version"), static_cast<std::uint64_t>(GetParam()));
    }

    Receipt of(const History& history, const std::string& key) const {
        const auto found = history.list(filter(key));
        EXPECT_TRUE(found && found->size() == 1) << key;
        return found && !found->empty() ? found->front() : Receipt{};
    }
};

void expectUnknown(const Receipt& receipt) {
    EXPECT_EQ(receipt.origin, Origin{}) << "the receipt did not say on which node the job ran";
    EXPECT_EQ(receipt.identity, JobIdentity{});
    EXPECT_EQ(receipt.slots, std::nullopt);
    EXPECT_EQ(receipt.usage.memoryNeed, std::nullopt);
    EXPECT_EQ(receipt.usage.memoryPeak, std::nullopt) << "the node had no memory controller";
    EXPECT_TRUE(receipt.taskList.empty());
}

TEST_P(StoredHistory, hasAllReceiptsAfterTheMigration) {
    const auto before = open(History::Mode::ReadOnly).list({});
    ASSERT_TRUE(before) << before.error().message;
    const auto history = open();
    EXPECT_EQ(number("PRAGMA user_version"), kHistorySchema);
    auto after = history.list({});
    ASSERT_TRUE(after) << after.error().message;
    ASSERT_EQ(after->size(), 10U);
    for (auto& one : *after) {
        EXPECT_TRUE(one.sequence && one.epoch) << one.key;
        expectUnknown(one);
        one = unnumbered(one);
    }
    EXPECT_EQ(*after, *before) << "a reader sees the same receipts before and after the migration";
}

TEST_P(StoredHistory, showsHowEachJobEnded) {
    struct End {
        const char* key;
        JobResult result;
        ExitState exit;
    };
    const auto history = open();
    for (const auto& end :
         {End{"sge.1", JobResult::Exited, {.status = 0, .signal = {}}},
          End{"sge.2", JobResult::Exited, {.status = 3, .signal = {}}},
          End{"user.3", JobResult::Signaled, {.status = {}, .signal = 11}},
          End{"pbs.4", JobResult::Timeout, {.status = {}, .signal = 15}},
          End{"sge.5", JobResult::Exited, {.status = 0, .signal = {}}},
          End{"slurm.6", JobResult::Stopped, {.status = {}, .signal = 15}}, End{"sge.7", JobResult::SupervisorLost, {}},
          End{"torque.8", JobResult::Exited, {}}, End{"sge.9", JobResult::Exited, {}},
          End{"pbs.10", JobResult::OutOfMemory, {.status = {}, .signal = 9}}}) {
        const auto receipt = of(history, end.key);
        EXPECT_EQ(receipt.result, end.result) << end.key;
        EXPECT_EQ(receipt.exit, end.exit) << end.key;
        EXPECT_EQ(receipt.uid, receipt.key == "user.3" ? 1001U : 0U);
        EXPECT_LT(receipt.started, receipt.ended);
        // The times `started` and `ended` are from the real-time clock, which somebody can set. `wall` is a duration by the clock
        // that counts the time since the boot.
        const auto between = timeBetween(receipt.started, receipt.ended);
        EXPECT_LT(std::max(between, receipt.wall) - std::min(between, receipt.wall), 1ms) << end.key;
    }
}

TEST_P(StoredHistory, showsWhatEachReceiptSays) {
    const auto history = open();
    EXPECT_EQ(of(history, "sge.5").leftovers.commands, (std::vector<std::string>{"sleep 4242", "sleep 4243"}));
    EXPECT_EQ(of(history, "sge.5").leftovers.count, 2U);
    EXPECT_EQ(of(history, "slurm.6").stoppedBy, 0U);
    EXPECT_EQ(of(history, "pbs.4").limits.runTimeMax, 300'000U);
    EXPECT_EQ(of(history, "pbs.4").limits.tasksMax, 100U);
    EXPECT_GT(of(history, "sge.1").usage.cpuUser, 200ms);
    const auto killed = of(history, "pbs.10");
    ASSERT_TRUE(killed.oom);
    EXPECT_EQ(killed.oom->cause, OomCause::OwnLimit);
    EXPECT_EQ(killed.oom->victimName, "python3");
    EXPECT_EQ(killed.oom->limit, 1U << 30);
    EXPECT_EQ(killed.usage.memoryPeakAnon, 1'070'000'000U);
    EXPECT_EQ(killed.usage.memoryPeakShmem, std::nullopt);
}

TEST_P(StoredHistory, isFilteredAsANewOne) {
    const auto history = open();
    EXPECT_EQ(history.list(kinds("exited", "sge"))->size(), 4U);
    EXPECT_EQ(history.list(kinds({}, {}, true))->front().key, "sge.5");
    EXPECT_EQ(history.list(kinds("out-of-memory"))->front().key, "pbs.10");
    EXPECT_EQ(history.list({.outcomes = {JobOutcome::Unknown}})->size(), 2U);
    EXPECT_EQ(history.list({.outcomes = {JobOutcome::Succeeded}})->size(), 2U);
    EXPECT_EQ(history.list({.outcomes = {JobOutcome::Failed}})->size(), 6U);
    EXPECT_EQ(history.list(test::of(1001, {}))->front().key, "user.3");
}

TEST_P(StoredHistory, takesNewReceipts) {
    auto history = open();
    const auto stored = history.write({{receipt("new", "sge.20", 5)}});
    ASSERT_TRUE(stored) << stored.error().message;
    EXPECT_EQ(stored->front().sequence, 11U);
}

TEST_P(StoredHistory, namesTheJobsThatRanMeanwhile) {
    auto history = open();
    const auto live = history.live();
    ASSERT_TRUE(live) << live.error().message;
    EXPECT_EQ(live->newestEnd, history.list({})->front().ended);
    if (GetParam() < 3) {
        EXPECT_TRUE(live->rows.empty()) << "schema 2 has no rows of live jobs";
        return;
    }
    ASSERT_EQ(live->rows.size(), 2U);
    const auto& job = live->rows[0];
    EXPECT_EQ(job.receipt.key, "sge.11");
    EXPECT_EQ(job.receipt.result, JobResult::NodeLost);
    EXPECT_EQ(job.receipt.limits.tasksMax, 200U);
    EXPECT_EQ(job.bootId, "b0071d00-0000-4000-8000-000000000000");
    EXPECT_EQ(live->rows[1].receipt.uid, 1000U);
}

INSTANTIATE_TEST_SUITE_P(, StoredHistory, testing::Values(2, 4), testing::PrintToStringParamName());

} // namespace
} // namespace pinfold::test
