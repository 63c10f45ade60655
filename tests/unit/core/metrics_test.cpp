// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests which events of a node pinfoldd counts, and when pinfoldd writes the counts to the metrics file.
#include "base/paths.hpp"
#include "core/report/events.hpp"
#include "core/report/metrics_file.hpp"
#include "store/sent_position.hpp"
#include "tests/unit/core/core_fixture.hpp"

#include <fstream>
#include <iterator>

namespace pinfold::test {
namespace {

class MetricsTest : public CoreTest {
protected:
    MetricsTest() {
        config.metrics.textfile = "/metrics/pinfold.prom";
        std::filesystem::create_directory(node.root() / "metrics");
    }
    /// Opens the metrics file, as pinfoldd does as soon as pinfoldd is ready.
    void open() {
        file.reset();
        file.emplace(MetricsFile::Parts{loop, *background, *manager, *store, *metrics, closer, config, node.root(), "1.2.3",
                                        [this](const std::string& line) { warnings.push_back(line); }});
        file->configure();
        loop.settle();
    }
    void runJob(const std::string& key, int leftovers = 0) {
        auto leader = child();
        create(key, leader);
        ASSERT_TRUE(created && *created);
        for (int i = 0; i < leftovers; ++i)
            node.spawnInside(900'000 + i, "/batch.slice/batch-" + key + ".slice/job-" + key + ".scope");
        end(leader);
        for (int i = 0; i < leftovers; ++i)
            node.vanish(900'000 + i);
        loop.waitForEvent(leftovers > 0 ? 1000 : 0);
        ASSERT_TRUE(manager->jobs().empty());
    }
    std::string text() const {
        std::ifstream in(path);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    bool says(const std::string& line) const { return ("\n" + text()).find("\n" + line + "\n") != std::string::npos; }

    std::filesystem::path path = node.root() / "metrics/pinfold.prom";
    std::vector<std::string> warnings;
    DescriptorCloser closer{*background};
    std::optional<MetricsFile> file;
};

TEST_F(MetricsTest, unsentReceiptsAreCountedWhileTheSiteHasAnArchive) {
    open();
    runJob("sge.1");
    loop.advance(MetricsFile::kSettle * 2);
    EXPECT_EQ(text().find("pinfold_unsent"), std::string::npos);
    config.archive.server = "archive.example.org";
    file->configure();
    loop.advance(MetricsFile::kSettle);
    EXPECT_TRUE(says("pinfold_unsent 1")) << text();
    runJob("sge.2");
    loop.advance(MetricsFile::kSettle * 2);
    EXPECT_TRUE(says("pinfold_unsent 2")) << text();

    const auto sent = inRoot(node.root(), kSentFile);
    std::filesystem::create_directories(sent.parent_path());
    std::ofstream(sent) << encode(SentPosition{*history->list({})->front().epoch, 2, {}});
    loop.advance(MetricsFile::kRefresh + MetricsFile::kSettle);
    EXPECT_TRUE(says("pinfold_unsent 0")) << text();
    config.archive.server.clear();
    file->configure();
    loop.settle();
    EXPECT_EQ(text().find("pinfold_unsent"), std::string::npos);
}

TEST_F(MetricsTest, aDrainIsSeen) {
    open();
    EXPECT_TRUE(says("pinfold_draining 0")) << text();
    ASSERT_TRUE(drainBy(root, "new disk"));
    loop.advance(MetricsFile::kSettle);
    EXPECT_TRUE(says("pinfold_draining 1")) << text();
    EXPECT_TRUE(says("pinfold_draining_automatic 0")) << "an administrator did it" << text();
    ASSERT_TRUE(undrainBy(root));
    loop.advance(MetricsFile::kSettle);
    EXPECT_TRUE(says("pinfold_draining 0")) << text();
}

TEST_F(MetricsTest, aJobThatCannotBeKilledIsSeenAndThatItDrainsTheNode) {
    config.unkillable.action = UnkillableAction::Drain;
    open();
    EXPECT_TRUE(says("pinfold_unkillable_jobs 0")) << text();
    auto leader = stuckJob("sge.1");
    loop.advance(config.unkillable.after);
    loop.advance(MetricsFile::kSettle);
    EXPECT_TRUE(says("pinfold_unkillable_jobs 1")) << text();
    EXPECT_TRUE(says("pinfold_draining 1")) << text();
    EXPECT_TRUE(says("pinfold_draining_automatic 1")) << text();
    end(leader);
    loop.advance(MetricsFile::kSettle);
    EXPECT_TRUE(says("pinfold_unkillable_jobs 0")) << text();
    EXPECT_TRUE(says("pinfold_draining_automatic 0")) << text();
}

TEST_F(MetricsTest, jobsAndWhatTheyLeaveAreCounted) {
    open();
    EXPECT_TRUE(says("pinfold_jobs 0")) << text();
    runJob("sge.1");
    runJob("sge.2", 2);
    auto live = child();
    create("sge.3", live);
    loop.advance(MetricsFile::kSettle);
    EXPECT_TRUE(says("pinfold_build_info{version=\"1.2.3\"} 1")) << text();
    EXPECT_TRUE(says("pinfold_jobs 1")) << text();
    EXPECT_TRUE(says("pinfold_jobs_ended_total{result=\"exited\"} 2")) << text();
    EXPECT_TRUE(says("pinfold_leftover_processes_total 2")) << text();
    EXPECT_TRUE(says("pinfold_leftover_jobs_total 1")) << text();
    EXPECT_TRUE(says("pinfold_scope_start_seconds_count 3")) << text();
    EXPECT_EQ(text().find("cgroup_"), std::string::npos) << "jobs have no series of their own unless asked for";
}

TEST_F(MetricsTest, aStartsTimeIsThatUntilItsProcessesAreInTheScope) {
    open();
    auto leader = child();
    node.holdStarts = true;
    create("sge.1", leader);
    loop.advance(20ms);
    node.release();
    loop.advance(MetricsFile::kSettle);
    EXPECT_TRUE(says("pinfold_scope_start_seconds_sum 0.02")) << text();
}

TEST_F(MetricsTest, aFailedStartIsAnErrorAndNoJob) {
    open();
    auto leader = child();
    node.nextStartFaults.push_back({SystemdFault::Other, "no"});
    create("sge.1", leader);
    loop.advance(MetricsFile::kSettle);
    EXPECT_TRUE(says("pinfold_errors_total{kind=\"start\"} 1")) << text();
    EXPECT_TRUE(says("pinfold_scope_start_seconds_count 0")) << text();
    EXPECT_TRUE(says("pinfold_jobs_ended_total{result=\"lost\"} 0")) << text();
}

TEST_F(MetricsTest, everyWarningCountsByWhatItIsAbout) {
    open();
    logWarning(*context, *JobKey::parse("sge.1"), "hm");
    logWarning(*context, *JobKey::parse("sge.1"), "hm", Trouble::Receipt);
    logLimitUnenforced(*context, *JobKey::parse("sge.1"), "hm");
    logUnreadableRecord(*context, "hm");
    loop.advance(MetricsFile::kSettle);
    for (const char* kind : {"other", "receipt", "limit", "record"})
        EXPECT_TRUE(says("pinfold_errors_total{kind=\"" + std::string(kind) + "\"} 1")) << kind << text();
}

TEST_F(MetricsTest, callsThatAreRefusedAreCounted) {
    open();
    EXPECT_TRUE(says("pinfold_refused_calls_total{lane=\"output\"} 0")) << text();
    background->hold(Lane::Output);
    while (background->run(
        Lane::Output, [] {}, nullptr)) {
    }
    loop.advance(MetricsFile::kSettle);
    EXPECT_TRUE(says("pinfold_refused_calls_total{lane=\"output\"} 1")) << text();
    EXPECT_TRUE(says("pinfold_refused_calls_total{lane=\"history-write\"} 0")) << text();
}

TEST_F(MetricsTest, manyChangesAreOneWrite) {
    open();
    std::filesystem::remove(path);
    runJob("sge.1");
    loop.advance(MetricsFile::kSettle / 2);
    runJob("sge.2");
    EXPECT_FALSE(std::filesystem::exists(path));
    loop.advance(MetricsFile::kSettle / 2);
    EXPECT_TRUE(says("pinfold_jobs_ended_total{result=\"exited\"} 2")) << text();
    runJob("sge.3");
    EXPECT_TRUE(says("pinfold_jobs_ended_total{result=\"exited\"} 2")) << text();
    loop.advance(MetricsFile::kSettle);
    EXPECT_TRUE(says("pinfold_jobs_ended_total{result=\"exited\"} 3")) << text();
}

TEST_F(MetricsTest, aQuietNodesFileIsStillRefreshed) {
    open();
    std::filesystem::remove(path);
    loop.advance(MetricsFile::kRefresh - 1us);
    EXPECT_FALSE(std::filesystem::exists(path));
    loop.advance(1us);
    EXPECT_TRUE(says("pinfold_jobs 0"));
}

TEST_F(MetricsTest, aJobsOwnSeriesGoWithIt) {
    config.metrics.perJob = true;
    open();
    auto leader = child();
    create("sge.1", leader);
    const std::string slice = "/batch.slice/batch-sge.1.slice";
    node.setFile(slice, "cpu.stat", "user_usec 500000\nsystem_usec 250000\n");
    node.setFile(slice, "memory.current", "4096\n");
    loop.advance(MetricsFile::kSettlePerJob);
    EXPECT_TRUE(says("cgroup_info{cgroup=\"" + slice + "\",uid=\"1000\",jobid=\"sge.1\"} 1")) << text();
    EXPECT_TRUE(says("cgroup_cpu_total_seconds{cgroup=\"" + slice + "\"} 0.75")) << text();
    node.setFile(slice, "memory.current", "8192\n");
    loop.advance(MetricsFile::kRefreshPerJob);
    EXPECT_TRUE(says("cgroup_memory_used_bytes{cgroup=\"" + slice + "\"} 8192")) << text();
    end(leader);
    loop.advance(MetricsFile::kSettlePerJob);
    EXPECT_TRUE(says("pinfold_jobs_ended_total{result=\"exited\"} 1")) << text();
    EXPECT_EQ(text().find("cgroup_"), std::string::npos) << text();
}

TEST_F(MetricsTest, aJobsOwnSeriesNameItsOwnerAndItsGpus) {
    context->nameOfUser = [](uid_t) { return Result<std::string>("alice"); };
    config.metrics.perJob = true;
    config.gpus.devices = {{{"/dev/nvidia0", "rw"}}, {{"/dev/nvidia1", "rw"}}};
    config.gpus.ids = {"GPU-a", "GPU-b"};
    open();
    auto leader = child();
    CreateRequest request;
    request.key = "sge.1";
    request.leader = leader.pidfd();
    request.allocation.gpuList = CpuList::of({1});
    manager->createJob(root, std::move(request), [](const Result<JobSummary>& done) { EXPECT_TRUE(done); });
    loop.settle();
    loop.advance(MetricsFile::kSettlePerJob);
    const std::string slice = "/batch.slice/batch-sge.1.slice";
    EXPECT_TRUE(says("cgroup_info{cgroup=\"" + slice + "\",uid=\"1000\",jobid=\"sge.1\",username=\"alice\"} 1")) << text();
    EXPECT_TRUE(says("cgroup_gpu_info{cgroup=\"" + slice + "\",gpu=\"1\",id=\"GPU-b\"} 1")) << text();
    EXPECT_TRUE(says("pinfold_node_gpus{part=\"given\"} 1")) << text();
    EXPECT_TRUE(says("pinfold_unlimited_jobs{resource=\"cpus\"} 1")) << text();
    config.gpus.ids.clear();
    loop.advance(MetricsFile::kRefreshPerJob);
    EXPECT_TRUE(says("cgroup_gpu_info{cgroup=\"" + slice + "\",gpu=\"1\"} 1")) << text();
}

TEST_F(MetricsTest, theNameOfAnOwnerIsAskedForUntilItIsKnown) {
    bool answers = false;
    context->nameOfUser = [&answers](uid_t) {
        return answers ? Result<std::string>("alice") : Result<std::string>(Error{ErrorCode::Internal, "no answer"});
    };
    config.metrics.perJob = true;
    open();
    auto leader = child();
    create("sge.1", leader);
    loop.advance(MetricsFile::kSettlePerJob);
    EXPECT_TRUE(says(R"(cgroup_info{cgroup="/batch.slice/batch-sge.1.slice",uid="1000",jobid="sge.1"} 1)")) << text();
    answers = true;
    loop.advance(MetricsFile::kRefreshPerJob * 2);
    const auto* named = R"(cgroup_info{cgroup="/batch.slice/batch-sge.1.slice",uid="1000",jobid="sge.1",username="alice"} 1)";
    EXPECT_TRUE(says(named)) << text();
}

TEST_F(MetricsTest, whatCannotBeWrittenIsSaidOnceAndHarmsNoJob) {
    std::filesystem::remove(node.root() / "metrics");
    open();
    runJob("sge.1");
    loop.advance(MetricsFile::kSettle);
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_NE(warnings.front().find("No such file or directory; see metrics.textfile in pinfold.toml(5)"), std::string::npos)
        << warnings.front();
    std::filesystem::create_directory(node.root() / "metrics");
    loop.advance(MetricsFile::kRefresh);
    EXPECT_TRUE(says("pinfold_jobs_ended_total{result=\"exited\"} 1")) << text();
    std::filesystem::remove_all(node.root() / "metrics");
    loop.advance(MetricsFile::kRefresh);
    EXPECT_EQ(warnings.size(), 2U) << "a new failure is said again";
}

TEST_F(MetricsTest, aReloadMovesItAndSwitchesItOff) {
    open();
    config.metrics.textfile = "/metrics/other.prom";
    file->configure();
    loop.settle();
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_TRUE(std::filesystem::exists(node.root() / "metrics/other.prom"));
    config.metrics.textfile.reset();
    file->configure();
    runJob("sge.1");
    loop.advance(MetricsFile::kRefresh);
    EXPECT_TRUE(std::filesystem::is_empty(node.root() / "metrics"));
    EXPECT_EQ(loop.timers(), 0U) << "and costs nothing then";
}

TEST_F(MetricsTest, aDiskThatHangsHoldsUpNobodyElse) {
    open();
    background->hold(Lane::Metrics);
    for (int i = 1; i <= 5; ++i) {
        runJob("sge." + std::to_string(i));
        loop.advance(MetricsFile::kSettle);
    }
    EXPECT_EQ(background->hanging(Lane::Metrics), 1U) << "one write at a time";
    EXPECT_TRUE(warnings.empty());
    background->release(Lane::Metrics);
    loop.advance(MetricsFile::kSettle);
    EXPECT_TRUE(says("pinfold_jobs_ended_total{result=\"exited\"} 5")) << text();
}

TEST_F(MetricsTest, anEndOfPinfolddTakesItAway) {
    open();
    ASSERT_TRUE(std::filesystem::exists(path));
    file.reset();
    EXPECT_FALSE(std::filesystem::exists(path));
    runJob("sge.1");
    EXPECT_EQ(metrics->counts().jobsEnded.at(JobResult::Exited), 1U);
}

} // namespace
} // namespace pinfold::test
