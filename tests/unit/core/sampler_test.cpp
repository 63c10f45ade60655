// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core_fixture.hpp"

#include "model/profile.hpp"

#include <fmt/core.h>

namespace pinfold::test {
namespace {

class SamplerTest : public CoreTest {
protected:
    void uses(std::uint64_t anon, std::uint64_t shmem = 0, std::uint64_t file = 0, const std::string& slice = kSlice) {
        node.setFile(slice, "memory.stat", fmt::format("anon {}\nfile {}\nshmem {}\n", anon, file, shmem));
    }
    void hasRun(Microseconds cpu) {
        node.setFile(kSlice, "cpu.stat", fmt::format("usage_usec {0}\nuser_usec {0}\nsystem_usec 0\n", cpu.count()));
    }
    /// The job's memory grows by 10 MiB a second.
    void leak(int seconds) {
        for (int i = 0; i < seconds; ++i) {
            loop.advance(1s);
            ++age;
            uses(static_cast<std::uint64_t>(age) * 10 * kMiB);
            hasRun(std::chrono::seconds(age));
        }
    }
    Receipt finish() {
        end(leader);
        loop.settle();
        EXPECT_EQ(receipts().size(), 1U);
        return receipts().at(0);
    }
    Profile profileOf(const Receipt& receipt) const {
        const auto bytes = history->profile(receipt.id);
        EXPECT_TRUE(bytes && !bytes->empty());
        EXPECT_LE(bytes->size(), Profile::kMostBytes);
        return *decodeProfile(*bytes);
    }
    bool hasProfile(const Receipt& receipt) const { return !history->profile(receipt.id)->empty(); }
    std::filesystem::path stored() const { return node.root() / "run/pinfold/profiles/sge.1.json"; }

    ChildProcess leader = child();
    int age = 0;
};

TEST_F(SamplerTest, aLeakIsARampWithTheTrueArea) {
    create("sge.1", leader);
    leak(200);
    const auto receipt = finish();
    const auto profile = profileOf(receipt);
    EXPECT_NEAR(static_cast<double>(profile.length().count()), 200e6, 1e6);
    const auto area = profile.meanOf(Measure::Anon) * static_cast<double>(profile.length().count()) / 1e6;
    const auto truth = 10.0 * kMiB * 200 * 200 / 2;
    EXPECT_NEAR(area, truth, truth * 0.08) << "the last look was up to 30 s before the end";
    EXPECT_NEAR(profile.meanOf(Measure::Cpu), 1e6, 2e4);
    double before = 0;
    for (const auto& point : profile.points()) {
        EXPECT_GE(point.meanOf(Measure::Anon), before);
        before = point.meanOf(Measure::Anon);
    }
    ASSERT_TRUE(receipt.usage.memoryNeed);
    EXPECT_GE(*receipt.usage.memoryNeed, 1700 * kMiB);
    EXPECT_LE(*receipt.usage.memoryNeed, 2000 * kMiB);
}

TEST_F(SamplerTest, needIsNotPageCache) {
    create("sge.1", leader);
    uses(5 * kMiB, 20 * kMiB, 920 * kMiB);
    loop.advance(3s);
    EXPECT_EQ(manager->job("sge.1")->memoryNeed, 25 * kMiB);
    const auto receipt = finish();
    EXPECT_EQ(receipt.usage.memoryNeed, 25 * kMiB);
    EXPECT_NEAR(profileOf(receipt).mostOf(Measure::Cache), 900.0 * kMiB, 6 * kMiB);
}

TEST_F(SamplerTest, aJobOfThreeSecondsHasALookAtEachPowerOfTwo) {
    create("sge.1", leader);
    loop.advance(3s);
    EXPECT_EQ(profileOf(finish()).points().size(), 3U) << "after 1 s, after 2 s, and at the end";
}

TEST_F(SamplerTest, aJobOfTenDaysHasAtMost120Points) {
    create("sge.1", leader);
    uses(kMiB);
    for (int hour = 0; hour < 240; ++hour)
        loop.advance(1h);
    const auto profile = profileOf(finish());
    EXPECT_LE(profile.points().size(), Profile::kMostPoints);
    EXPECT_GE(profile.points().size(), Profile::kMostPoints / 2);
    EXPECT_EQ(std::chrono::duration_cast<std::chrono::seconds>(profile.length()), 240h);
}

TEST_F(SamplerTest, aVeryShortJobHasNoProfileAndNoKnownNeed) {
    create("sge.1", leader);
    uses(5 * kMiB);
    loop.advance(500ms);
    uses(4096);
    const auto receipt = finish();
    EXPECT_FALSE(hasProfile(receipt));
    EXPECT_FALSE(receipt.usage.memoryNeed);
}

TEST_F(SamplerTest, withoutJobsThereIsNoTimer) {
    const auto before = loop.timers();
    create("sge.1", leader);
    loop.advance(100s);
    EXPECT_GT(loop.timers(), before);
    finish();
    loop.advance(1s);
    EXPECT_EQ(loop.timers(), before);
}

TEST_F(SamplerTest, aJobThatHardlyUsesItsCpusIsIdle) {
    config.jobs.unenforcedLimits = UnenforcedLimits::Warn;
    create("sge.1", leader, {.cpuQuota = 4'000'000});
    config.idle = {.since = 10min, .share = 10};
    loop.advance(10min - 1s);
    EXPECT_EQ(manager->idleJobs()->cpus, 0U) << "the job is younger than idle.since";
    loop.advance(1min);
    EXPECT_EQ(manager->idleJobs()->cpus, 1U);
    hasRun(5min); // the job has four CPUs, and used half a CPU for ten minutes
    loop.advance(1min);
    EXPECT_EQ(manager->idleJobs()->cpus, 0U);
    loop.advance(15min);
    EXPECT_EQ(manager->idleJobs()->cpus, 1U) << "only the time idle.since counts";
}

TEST_F(SamplerTest, aJobThatNeedsLittleOfItsMemoryLimitIsIdle) {
    config.idle = {.since = 10min, .share = 10, .memoryShare = 25};
    create("sge.1", leader, {.memoryMax = 1000 * kMiB});
    uses(100 * kMiB, 149 * kMiB, 900 * kMiB);
    loop.advance(12min);
    EXPECT_EQ(manager->idleJobs(), (IdleJobs{.cpus = 0, .memory = 1})) << "page cache is not use";
    uses(100 * kMiB, 200 * kMiB);
    loop.advance(1min);
    EXPECT_EQ(manager->idleJobs()->memory, 0U);
    uses(kMiB);
    loop.advance(15min);
    EXPECT_EQ(manager->idleJobs()->memory, 1U) << "only the time idle.since counts";
}

TEST_F(SamplerTest, aJobIsNotIdleIfItsCpusAreNotKnown) {
    create("sge.1", leader);
    loop.advance(2h);
    EXPECT_EQ(manager->jobCount(), 1U);
    EXPECT_EQ(manager->idleJobs(), IdleJobs{});
}

TEST_F(SamplerTest, theSlotsOfAJobAreItsCpus) {
    CreateRequest request;
    request.key = "sge.1";
    request.leader = leader.pidfd();
    request.slots = 8;
    manager->createJob(root, std::move(request), [](const Result<JobSummary>& done) { EXPECT_TRUE(done && done->slots == 8U); });
    loop.settle();
    loop.advance(2h);
    EXPECT_EQ(manager->idleJobs()->cpus, 1U);
}

TEST_F(SamplerTest, intervalZeroMeansNever) {
    config.profile.interval = 0s;
    EXPECT_EQ(manager->idleJobs(), std::nullopt);
    create("sge.1", leader);
    uses(5 * kMiB);
    loop.advance(100s);
    const auto receipt = finish();
    EXPECT_FALSE(hasProfile(receipt));
    EXPECT_FALSE(receipt.usage.memoryNeed);
}

TEST_F(SamplerTest, aReloadSwitchesTheLooksOnAndOff) {
    config.profile.interval = 0s;
    create("sge.1", leader);
    config.profile.interval = 10s;
    manager->configChanged();
    uses(5 * kMiB);
    loop.advance(15s);
    config.profile.interval = 0s;
    manager->configChanged();
    uses(50 * kMiB);
    loop.advance(100s);
    EXPECT_EQ(finish().usage.memoryNeed, 5 * kMiB);
}

TEST_F(SamplerTest, aRoundLooksAtEveryJob) {
    std::vector<ChildProcess> others;
    for (int i = 2; i <= 40; ++i) {
        others.push_back(child());
        create(fmt::format("sge.{}", i), others.back());
    }
    loop.advance(20s); // the jobs are no longer young, so pinfoldd looks less often at the jobs
    for (int i = 2; i <= 40; ++i)
        uses(static_cast<std::uint64_t>(i) * kMiB, 0, 0, fmt::format("/batch.slice/batch-sge.{}.slice", i));
    loop.advance(30s);
    for (int i = 2; i <= 40; ++i) {
        node.setFile(fmt::format("/batch.slice/batch-sge.{}.slice", i), "memory.stat", "");
        EXPECT_EQ(manager->usage(root, fmt::format("sge.{}", i))->memoryNeed, static_cast<std::uint64_t>(i) * kMiB) << i;
    }
}

TEST_F(SamplerTest, aCrashLosesAtMostThePointsSinceTheLastSave) {
    create("sge.1", leader);
    leak(200);
    EXPECT_TRUE(std::filesystem::exists(stored()));
    crash();
    age += 20;
    loop.advance(20s);
    restart();
    leak(80);
    const auto receipt = finish();
    const auto profile = profileOf(receipt);
    EXPECT_NEAR(static_cast<double>(profile.length().count()), 300e6, 1e6) << "the time without pinfoldd has a point, too";
    EXPECT_NEAR(profile.meanOf(Measure::Anon), 1500.0 * kMiB, 1500.0 * kMiB * 0.08);
    EXPECT_NEAR(profile.meanOf(Measure::Cpu), 1e6, 2e4);
    EXPECT_FALSE(std::filesystem::exists(stored()));
}

TEST_F(SamplerTest, aStoredProfileOfAnEarlierJobIsNotContinued) {
    create("sge.1", leader);
    leak(60);
    const auto old = stored().parent_path() / "old";
    std::filesystem::copy_file(stored(), old);
    finish();
    auto second = child();
    create("sge.1", second);
    uses(kMiB);
    loop.advance(2s);
    std::filesystem::rename(old, stored());
    crash();
    restart();
    loop.advance(10s);
    end(second);
    loop.settle();
    EXPECT_LT(profileOf(receipts().at(0)).length(), 20s);
    EXPECT_EQ(receipts().at(0).usage.memoryNeed, kMiB);
}

} // namespace
} // namespace pinfold::test
