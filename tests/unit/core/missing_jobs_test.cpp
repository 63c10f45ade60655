// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/restart/missing_jobs.hpp"

#include <gtest/gtest.h>

namespace pinfold::test {
namespace {

LiveRow row(const std::string& id, const std::string& boot, std::uint64_t started) {
    LiveRow job{.bootId = boot, .receipt = {}};
    job.receipt.id = id;
    job.receipt.key = "sge." + id;
    job.receipt.uid = 1000;
    job.receipt.started = started;
    job.receipt.ended = started;
    job.receipt.result = JobResult::NodeLost;
    return job;
}

AtStart start(bool mayLive = false) {
    return {"now", 10'000, 9'000, [mayLive](const Receipt&) { return mayLive; }};
}

std::vector<Receipt> lostJobs(std::vector<LiveRow> jobs, const AtStart& at = start()) {
    return lostReceipts({std::move(jobs)}, at);
}

std::uint64_t endWith(std::optional<LiveTable::Sign> lastVacuum, std::optional<std::uint64_t> newestEnd) {
    return lostReceipts({{row("a", "then", 100)}, std::move(lastVacuum), newestEnd}, start())[0].ended;
}

TEST(MissingJobs, endWithTheLastSignOfLifeOfTheirBoot) {
    const auto lost = lostJobs({row("a", "then", 100), row("b", "then", 300), row("c", "earlier", 50)});
    ASSERT_EQ(lost.size(), 3U);
    EXPECT_EQ(lost[0].result, JobResult::NodeLost);
    EXPECT_EQ(lost[0].ended, 300U) << "the node ran when b was started";
    EXPECT_EQ(lost[0].wall, 200U);
    EXPECT_EQ(lost[1].ended, 300U);
    EXPECT_EQ(lost[2].ended, 50U);
    EXPECT_EQ(lost[0].key, "sge.a");
    EXPECT_EQ(lost[0].uid, 1000U);
    EXPECT_EQ(lost[0].usage, Usage{});
    EXPECT_FALSE(lost[0].exit.known());
}

TEST(MissingJobs, theNewestReceiptIsASignOfLife) {
    EXPECT_EQ(endWith({}, 8'000), 8'000U);
    EXPECT_EQ(endWith({}, 9'500), 100U) << "that one is of this boot";
}

TEST(MissingJobs, aLookAtTheHistoryIsASignOfLifeOfItsBoot) {
    EXPECT_EQ(endWith(LiveTable::Sign{"then", 7'000}, 600), 7'000U);
    EXPECT_EQ(endWith(LiveTable::Sign{"then", 500}, 600), 600U);
    EXPECT_EQ(endWith(LiveTable::Sign{"other", 7'000}, 600), 600U);
}

TEST(MissingJobs, endBeforeThisBootButNotBeforeTheirStart) {
    EXPECT_EQ(lostJobs({row("a", "then", 100), row("b", "then", 9'900)})[0].ended, 9'000U);
    const auto ahead = lostJobs({row("a", "then", 50'000)}); // by a clock that has been set back since
    EXPECT_EQ(ahead[0].ended, 50'000U);
    EXPECT_EQ(ahead[0].wall, 0U);
}

TEST(MissingJobs, ofThisBootAreThoseOfWhichNothingIsLeft) {
    EXPECT_TRUE(lostJobs({row("a", "now", 9'100)}, start(true)).empty());
    const auto lost = lostJobs({row("a", "now", 9'100)});
    ASSERT_EQ(lost.size(), 1U);
    EXPECT_EQ(lost[0].result, JobResult::Lost);
    EXPECT_EQ(lost[0].ended, 10'000U);
}

} // namespace
} // namespace pinfold::test
