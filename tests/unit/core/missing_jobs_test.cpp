// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/restart/missing_jobs.hpp"

#include <gtest/gtest.h>

namespace pinfold::test {
namespace {

constexpr RealTime at(std::uint64_t usec) { return fromUsec<RealTime>(usec); }

LiveRow row(const std::string& id, const std::string& boot, std::uint64_t started) {
    LiveRow job{.bootId = boot, .receipt = {}};
    job.receipt.id = id;
    job.receipt.key = "sge." + id;
    job.receipt.uid = 1000;
    job.receipt.started = at(started);
    job.receipt.ended = at(started);
    job.receipt.result = JobResult::NodeLost;
    return job;
}

AtStart start(bool mayLive = false) {
    return {"now", at(10'000), at(9'000), [mayLive](const Receipt&) { return mayLive; }};
}

std::vector<Receipt> lostJobs(std::vector<LiveRow> jobs, const AtStart& begin = start()) {
    return lostReceipts({std::move(jobs)}, begin);
}

RealTime endWith(std::optional<LiveTable::Sign> lastVacuum, std::optional<RealTime> newestEnd) {
    return lostReceipts({{row("a", "then", 100)}, std::move(lastVacuum), newestEnd}, start())[0].ended;
}

TEST(MissingJobs, endWithTheLastSignOfLifeOfTheirBoot) {
    const auto lost = lostJobs({row("a", "then", 100), row("b", "then", 300), row("c", "earlier", 50)});
    ASSERT_EQ(lost.size(), 3U);
    EXPECT_EQ(lost[0].result, JobResult::NodeLost);
    EXPECT_EQ(lost[0].ended, at(300)) << "the node ran when b was started";
    EXPECT_EQ(lost[0].wall, 200us);
    EXPECT_EQ(lost[1].ended, at(300));
    EXPECT_EQ(lost[2].ended, at(50));
    EXPECT_EQ(lost[0].key, "sge.a");
    EXPECT_EQ(lost[0].uid, 1000U);
    EXPECT_EQ(lost[0].usage, Usage{});
    EXPECT_FALSE(lost[0].exit.known());
}

TEST(MissingJobs, theLastLookAtAJobIsASignOfLifeAndHasTheFigures) {
    auto seen = row("a", "then", 100);
    seen.receipt.ended = at(5'000);
    seen.receipt.usage.cpuUser = 70us;
    const auto lost = lostJobs({seen, row("b", "then", 300)});
    EXPECT_EQ(lost[0].ended, at(5'000));
    EXPECT_EQ(lost[0].wall, 4'900us);
    EXPECT_EQ(lost[0].usage.cpuUser, 70us);
    EXPECT_EQ(lost[1].ended, at(5'000)) << "the node ran, and b with it";
    EXPECT_EQ(lost[1].usage, Usage{});
}

TEST(MissingJobs, theNewestReceiptIsASignOfLife) {
    EXPECT_EQ(endWith({}, at(8'000)), at(8'000));
    EXPECT_EQ(endWith({}, at(9'500)), at(100)) << "that one is of this boot";
}

TEST(MissingJobs, aLookAtTheHistoryIsASignOfLifeOfItsBoot) {
    EXPECT_EQ(endWith(LiveTable::Sign{"then", at(7'000)}, at(600)), at(7'000));
    EXPECT_EQ(endWith(LiveTable::Sign{"then", at(500)}, at(600)), at(600));
    EXPECT_EQ(endWith(LiveTable::Sign{"other", at(7'000)}, at(600)), at(600));
}

TEST(MissingJobs, endBeforeThisBootButNotBeforeTheirStart) {
    EXPECT_EQ(lostJobs({row("a", "then", 100), row("b", "then", 9'900)})[0].ended, at(9'000));
    // the clock was ahead at this job's start, and has been set back since
    const auto ahead = lostJobs({row("a", "then", 50'000)});
    EXPECT_EQ(ahead[0].ended, at(50'000));
    EXPECT_EQ(ahead[0].wall, 0s);
}

TEST(MissingJobs, ofThisBootAreThoseOfWhichNothingIsLeft) {
    EXPECT_TRUE(lostJobs({row("a", "now", 9'100)}, start(true)).empty());
    const auto lost = lostJobs({row("a", "now", 9'100)});
    ASSERT_EQ(lost.size(), 1U);
    EXPECT_EQ(lost[0].result, JobResult::Lost);
    EXPECT_EQ(lost[0].ended, at(10'000));
}

} // namespace
} // namespace pinfold::test
