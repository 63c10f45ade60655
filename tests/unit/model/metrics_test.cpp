// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/metrics.hpp"

#include "base/parse.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace pinfold {
namespace {

Receipt receipt(JobResult result, std::uint32_t leftovers = 0, std::optional<std::uint64_t> oomKills = {}) {
    Receipt made;
    made.result = result;
    made.leftovers.count = leftovers;
    made.usage.oomKills = oomKills;
    return made;
}

NodeMetrics someNode() {
    NodeMetrics node;
    node.version = "1.2.3";
    node.jobs = 2;
    node.draining = true;
    node.counts.add(receipt(JobResult::Exited));
    node.counts.add(receipt(JobResult::Exited, 3, 0));
    node.counts.add(receipt(JobResult::OutOfMemory, 1, 4));
    ++node.counts.errors[Trouble::Receipt];
    node.counts.scopeStart.observe(1500us);
    return node;
}

JobFigures busyJob() {
    JobFigures job{.key = *JobKey::parse("pbs.12[7].server"), .uid = 1000, .limits = {}, .usage = {}};
    job.limits.memoryMax = 64 << 20;
    job.limits.memorySwapMax = kInfinity;
    job.limits.allowedCpus = *CpuList::parse("0-2,8");
    job.usage.cpuUser = 1500ms;
    job.usage.cpuSystem = 250ms;
    job.usage.memoryCurrent = 4096;
    job.usage.memoryAnon = 1024;
    job.usage.memoryFile = 3072;
    job.usage.memoryShmem = 512;
    job.usage.memoryNeed = 2048;
    job.usage.oomEvents = 2;
    job.usage.swapCurrent = 0;
    job.usage.cpuThrottled = 3s;
    job.usage.memoryPressure = 20ms;
    job.usage.oomKills = 1;
    job.user = "alice";
    job.gpus = {{1, "GPU-a"}, {3, ""}};
    return job;
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        all.push_back(line);
    return all;
}

/// Returns the samples of the metrics, one sample on each line. The function leaves out the buckets of the histogram.
std::string samples(const NodeMetrics& node) {
    std::string kept;
    for (const auto& line : lines(metricsText(node)))
        if (!line.starts_with('#') && line.find("_bucket{") == std::string::npos)
            kept += line + "\n";
    return kept;
}

TEST(Metrics, unsentReceiptsAreKnownOnlyWithAnArchive) {
    NodeMetrics node;
    EXPECT_EQ(samples(node).find("pinfold_unsent"), std::string::npos);
    node.unsent = 3;
    EXPECT_NE(samples(node).find("\npinfold_unsent 3\n"), std::string::npos);
}

TEST(Metrics, aFreshNodeHasEverySeriesAtZero) {
    NodeMetrics node;
    node.version = "1.2.3";
    EXPECT_EQ(samples(node), R"(pinfold_build_info{version="1.2.3"} 1
pinfold_jobs 0
pinfold_draining 0
pinfold_draining_automatic 0
pinfold_unkillable_jobs 0
pinfold_history_failing 0
pinfold_history_kept 0
pinfold_history_dropped_total 0
pinfold_history_damaged_total 0
pinfold_unclosed_files 0
pinfold_jobs_ended_total{result="exited"} 0
pinfold_jobs_ended_total{result="signaled"} 0
pinfold_jobs_ended_total{result="stopped"} 0
pinfold_jobs_ended_total{result="timeout"} 0
pinfold_jobs_ended_total{result="out-of-memory"} 0
pinfold_jobs_ended_total{result="supervisor-lost"} 0
pinfold_jobs_ended_total{result="node-shutdown"} 0
pinfold_jobs_ended_total{result="node-lost"} 0
pinfold_jobs_ended_total{result="lost"} 0
pinfold_leftover_processes_total 0
pinfold_leftover_jobs_total 0
pinfold_oom_kills_total 0
pinfold_scope_start_seconds_sum 0
pinfold_scope_start_seconds_count 0
pinfold_orphans_total{kind="cgroups_left"} 0
pinfold_orphans_total{kind="cgroups_removed"} 0
pinfold_orphans_total{kind="records_ended"} 0
pinfold_orphans_total{kind="records_taken_up"} 0
pinfold_orphans_total{kind="records_unreadable"} 0
pinfold_orphans_total{kind="units_left"} 0
pinfold_orphans_total{kind="units_stopped"} 0
pinfold_errors_total{kind="config"} 0
pinfold_errors_total{kind="limit"} 0
pinfold_errors_total{kind="receipt"} 0
pinfold_errors_total{kind="record"} 0
pinfold_errors_total{kind="start"} 0
pinfold_errors_total{kind="stop"} 0
pinfold_errors_total{kind="other"} 0
)");
}

TEST(Metrics, jobsCountFromTheirReceipts) {
    const auto text = samples(someNode());
    for (const char* line : {"pinfold_jobs 2\n", "pinfold_draining 1\n", "_ended_total{result=\"exited\"} 2\n",
                             "_ended_total{result=\"out-of-memory\"} 1\n", "_ended_total{result=\"lost\"} 0\n",
                             "leftover_processes_total 4\n", "leftover_jobs_total 2\n", "oom_kills_total 4\n",
                             "start_seconds_sum 0.0015\n", "start_seconds_count 1\n", "errors_total{kind=\"receipt\"} 1\n"})
        EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST(Metrics, aNodeHasSeriesForTheKnownPartsOfItsResources) {
    auto node = someNode();
    node.resources.cpus = withFree({.total = 8'000'000, .kept = 1'000'000, .given = 2'500'000, .unlimitedJobs = 3});
    node.resources.memory = withFree({.total = 4096, .given = 8192, .unlimitedJobs = 0});
    const auto text = samples(node);
    const auto begin = text.find("pinfold_node_cpus");
    ASSERT_NE(begin, std::string::npos) << text;
    EXPECT_EQ(text.substr(begin, text.find("pinfold_history_failing") - begin),
              R"(pinfold_node_cpus{part="total"} 8
pinfold_node_cpus{part="kept"} 1
pinfold_node_cpus{part="given"} 2.5
pinfold_node_cpus{part="free"} 4.5
pinfold_node_memory_bytes{part="total"} 4096
pinfold_node_memory_bytes{part="given"} 8192
pinfold_node_memory_bytes{part="free"} 0
pinfold_unlimited_jobs{resource="cpus"} 3
pinfold_unlimited_jobs{resource="memory"} 0
)");
}

TEST(Metrics, idleJobsHaveNoSeriesWhileNobodyLooks) {
    auto node = someNode();
    EXPECT_EQ(samples(node).find("pinfold_idle_jobs"), std::string::npos);
    node.idle = IdleJobs{.cpus = 0, .memory = 2};
    EXPECT_NE(samples(node).find("pinfold_idle_jobs{resource=\"cpus\"} 0\npinfold_idle_jobs{resource=\"memory\"} 2\n"),
              std::string::npos);
}

TEST(Metrics, aJobsSeriesHaveTheNamesThatDashboardsKnow) {
    auto node = someNode();
    node.each.push_back(busyJob());
    const auto text = samples(node);
    const std::string cgroup = R"({cgroup="/batch.slice/batch-pbs.12\\x5b7\\x5d.server.slice"})";
    EXPECT_EQ(
        text.substr(text.find("cgroup_info")),
        R"(cgroup_info{cgroup="/batch.slice/batch-pbs.12\\x5b7\\x5d.server.slice",uid="1000",jobid="pbs.12[7].server",username="alice"} 1
cgroup_gpu_info{cgroup="/batch.slice/batch-pbs.12\\x5b7\\x5d.server.slice",gpu="1",id="GPU-a"} 1
cgroup_gpu_info{cgroup="/batch.slice/batch-pbs.12\\x5b7\\x5d.server.slice",gpu="3"} 1)"
        "\ncgroup_cpu_user_seconds" +
            cgroup + " 1.5\ncgroup_cpu_system_seconds" + cgroup + " 0.25\ncgroup_cpu_total_seconds" + cgroup +
            " 1.75\ncgroup_cpu_throttled_seconds" + cgroup + " 3\ncgroup_memory_pressure_seconds" + cgroup +
            " 0.02\ncgroup_cpus" + cgroup + " 4\ncgroup_memory_used_bytes" + cgroup + " 4096\ncgroup_memory_rss_bytes" + cgroup +
            " 1024\ncgroup_memory_shmem_bytes" + cgroup + " 512\ncgroup_memory_need_bytes" + cgroup +
            " 2048\ncgroup_memory_cache_bytes" + cgroup + " 2560\ncgroup_memory_total_bytes" + cgroup +
            " 67108864\ncgroup_memory_fail_count" + cgroup + " 2\ncgroup_oom_kills" + cgroup + " 1\ncgroup_memsw_used_bytes" +
            cgroup + " 0\n")
        << "an infinite limit has no series";
}

TEST(Metrics, whatIsNotKnownHasNoSeries) {
    auto node = someNode();
    node.each.push_back({.key = *JobKey::parse("sge.1"), .uid = 0, .limits = {}, .usage = {}});
    node.each.back().usage.cpuUser = 7us;
    const auto text = metricsText(node);
    EXPECT_NE(text.find("cgroup_info{"), std::string::npos);
    EXPECT_NE(text.find("cgroup_cpu_user_seconds{"), std::string::npos);
    EXPECT_EQ(text.find("cgroup_cpu_total_seconds"), std::string::npos) << "a sum of which a part isn't known";
    EXPECT_EQ(text.find("cgroup_memory"), std::string::npos);
}

TEST(Metrics, noSeriesAndNoHeadIsThereTwice) {
    auto node = someNode();
    node.each = {busyJob(), {.key = *JobKey::parse("sge.1"), .uid = 0, .limits = {}, .usage = busyJob().usage}};
    std::set<std::string> seen;
    for (const auto& line : lines(metricsText(node)))
        EXPECT_TRUE(seen.insert(line.starts_with('#') ? line : line.substr(0, line.rfind(' '))).second) << line;
    EXPECT_GT(seen.size(), 60U);
}

std::string complaints(const NodeMetrics& node) {
    const auto output = testing::TempDir() + "pinfold-promtool-" + std::to_string(::getpid());
    FILE* promtool = ::popen(("promtool check metrics >'" + output + "' 2>&1").c_str(), "w");
    const auto text = metricsText(node);
    EXPECT_EQ(std::fwrite(text.data(), 1, text.size(), promtool), text.size());
    const int status = ::pclose(promtool);
    std::ifstream in(output);
    const std::string said{std::istreambuf_iterator<char>(in), {}};
    std::remove(output.c_str());
    EXPECT_EQ(WEXITSTATUS(status) == 0, said.empty()) << said;
    return said;
}

TEST(Metrics, promtoolFindsNothingWrong) {
    if (std::system("promtool --version >/dev/null 2>&1") != 0)
        GTEST_SKIP() << "no promtool: install Debian's package prometheus";
    auto node = someNode();
    EXPECT_EQ(complaints(node), "");
    node.each = {busyJob(), {.key = *JobKey::parse("sge.1"), .uid = 0, .limits = {}, .usage = busyJob().usage}};
    EXPECT_EQ(complaints(node),
              "cgroup_memory_fail_count non-histogram and non-summary metrics should not have \"_count\" suffix\n")
        << "a name that others gave";
}

} // namespace
} // namespace pinfold
