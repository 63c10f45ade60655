// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/metrics.hpp"

#include "base/enum_names.hpp"
#include "base/parse.hpp"
#include "model/reconciliation.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace pinfold {
namespace {

using Labels = Exposition::Labels;

constexpr auto kTroubles = enumNames<Trouble>({
    {Trouble::Config, "config"},
    {Trouble::Limit, "limit"},
    {Trouble::Receipt, "receipt"},
    {Trouble::Record, "record"},
    {Trouble::Start, "start"},
    {Trouble::Stop, "stop"},
    {Trouble::Other, "other"},
});

/// Adds one series for each amount in `share` that is known.
void addShare(Exposition& out, std::string_view name, std::string_view help, const NodeShare& share,
              void (Exposition::*add)(const Labels&, std::uint64_t)) {
    bool begun = false;
    forEachPart(share, [&](const char* part, const std::optional<std::uint64_t>& amount) {
        if (amount && !std::exchange(begun, true))
            out.metric(name, "gauge", help);
        if (amount)
            (out.*add)({{"part", part}}, *amount);
    });
}

void addResources(Exposition& out, const NodeResources& node) {
    addShare(out, "pinfold_node_cpus", "The CPUs of the node, and the CPUs that live jobs hold.", node.cpus,
             &Exposition::millionths);
    addShare(out, "pinfold_node_memory_bytes", "The memory of the node, and the memory that live jobs hold.", node.memory,
             &Exposition::sample);
    addShare(out, "pinfold_node_gpus", "The GPUs of the node, and the GPUs that live jobs hold.", node.gpus, &Exposition::sample);
    out.metric("pinfold_unlimited_jobs", "gauge", "Live jobs without a limit on the resource that the label names.");
    forEachResource(node, [&out](const char* resource, const NodeShare& share) {
        if (share.unlimitedJobs)
            out.sample({{"resource", resource}}, *share.unlimitedJobs);
    });
}

void addNode(Exposition& out, const NodeMetrics& node) {
    const auto& counts = node.counts;
    out.metric("pinfold_build_info", "gauge", "The version of pinfoldd that runs.");
    out.sample({{"version", node.version}}, 1);
    out.metric("pinfold_jobs", "gauge", "Live jobs.");
    out.sample({}, node.jobs);
    out.metric("pinfold_draining", "gauge", "1 while the node takes no new jobs, else 0.");
    out.sample({}, node.draining ? 1 : 0);
    out.metric("pinfold_draining_automatic", "gauge", "1 while only pinfoldd itself has drained the node, else 0.");
    out.sample({}, node.drainingAutomatic ? 1 : 0);
    out.metric("pinfold_unkillable_jobs", "gauge", "Live jobs with processes that SIGKILL did not end.");
    out.sample({}, node.unkillable);
    if (node.idle) {
        out.metric("pinfold_idle_jobs", "gauge",
                   "Live jobs that use a smaller part of their CPUs or memory than the section [idle] requires.");
        out.sample({{"resource", "cpus"}}, node.idle->cpus);
        out.sample({{"resource", "memory"}}, node.idle->memory);
    }
    addResources(out, node.resources);
    out.metric("pinfold_history_failing", "gauge", "1 while receipts cannot be written, else 0.");
    out.sample({}, node.history.failing ? 1 : 0);
    out.metric("pinfold_history_kept", "gauge", "Receipts that wait in /run until pinfoldd can write them.");
    out.sample({}, node.history.kept);
    out.metric("pinfold_history_dropped_total", "counter",
               "Receipts that are lost, because pinfoldd could not write them and too many receipts waited.");
    out.sample({}, node.history.dropped);
    out.metric("pinfold_history_damaged_total", "counter", "Damaged files of the history that were moved aside.");
    out.sample({}, node.history.damaged);
    if (node.unsent) {
        out.metric("pinfold_unsent", "gauge", "Receipts of the history that are not in the site's archive yet.");
        out.sample({}, *node.unsent);
    }
    out.metric("pinfold_unclosed_files", "gauge", "Users' files that pinfoldd has not been able to close.");
    out.sample({}, node.unclosed);
    out.metric("pinfold_refused_calls_total", "counter", "Calls that pinfoldd refused, because too many earlier calls hang.");
    for (const auto& [lane, count] : node.refused)
        out.sample({{"lane", lane}}, count);
    out.metric("pinfold_jobs_ended_total", "counter", "Jobs that have ended, by their result.");
    for (const auto& [result, count] : counts.jobsEnded)
        out.sample({{"result", std::string(toString(result))}}, count);
    out.metric("pinfold_leftover_processes_total", "counter", "Processes that jobs left behind.");
    out.sample({}, counts.leftoverProcesses);
    out.metric("pinfold_leftover_jobs_total", "counter", "Jobs that left processes behind.");
    out.sample({}, counts.leftoverJobs);
    out.metric("pinfold_oom_kills_total", "counter", "Processes of jobs that were killed because memory ran out.");
    out.sample({}, counts.oomKills);
    out.metric("pinfold_scope_start_seconds", "histogram", "How long the start of a task's scope took.");
    out.histogram(counts.scopeStart);
    out.metric("pinfold_orphans_total", "counter",
               "Orphans (units, cgroups and records that did not belong together), by kind and by pinfoldd's action.");
    for (const auto& [kind, count] : counts.orphans)
        out.sample({{"kind", kind}}, count);
    out.metric("pinfold_errors_total", "counter", "Warnings and errors that pinfoldd logged, by subject.");
    for (const auto& [trouble, count] : counts.errors)
        out.sample({{"kind", std::string(toString(trouble))}}, count);
}

std::optional<Microseconds> sum(const std::optional<Microseconds>& a, const std::optional<Microseconds>& b) {
    return a && b ? std::optional(*a + *b) : std::nullopt;
}

std::optional<std::uint64_t> without(const std::optional<std::uint64_t>& whole, const std::optional<std::uint64_t>& part) {
    return whole ? std::optional(*whole - std::min(*whole, part.value_or(0))) : std::nullopt;
}

template <class T> struct JobMetric {
    std::string_view name;
    std::string_view help;
    std::optional<T> (*value)(const JobFigures&);
};
using JobTime = JobMetric<Microseconds>;
using JobNumber = JobMetric<std::uint64_t>;

// If treydock's cgroup_exporter has the same metric, pinfold uses the name from cgroup_exporter. With the names from
// cgroup_exporter, dashboards for cgroup_exporter can show pinfold's metrics. All metrics of jobs are gauges, as in
// cgroup_exporter, although the values of some metrics can only grow.
constexpr std::array kJobSeconds{
    JobTime{"cgroup_cpu_user_seconds", "CPU time in user mode.", [](const JobFigures& job) { return job.usage.cpuUser; }},
    JobTime{"cgroup_cpu_system_seconds", "CPU time in the kernel.", [](const JobFigures& job) { return job.usage.cpuSystem; }},
    JobTime{"cgroup_cpu_total_seconds", "CPU time.",
            [](const JobFigures& job) { return sum(job.usage.cpuUser, job.usage.cpuSystem); }},
    JobTime{"cgroup_cpu_throttled_seconds",
            "Time in which the kernel did not let the job run, because the job had used up its CPU quota.",
            [](const JobFigures& job) { return job.usage.cpuThrottled; }},
    JobTime{"cgroup_cpu_pressure_seconds", "Time in which a process waited for a CPU.",
            [](const JobFigures& job) { return job.usage.cpuPressure; }},
    JobTime{"cgroup_memory_pressure_seconds", "Time in which a process waited for memory.",
            [](const JobFigures& job) { return job.usage.memoryPressure; }},
    JobTime{"cgroup_memory_pressure_full_seconds", "Time in which all processes waited for memory.",
            [](const JobFigures& job) { return job.usage.memoryPressureFull; }},
    JobTime{"cgroup_io_pressure_seconds", "Time in which a process waited for a disk.",
            [](const JobFigures& job) { return job.usage.ioPressure; }},
    JobTime{"cgroup_io_pressure_full_seconds", "Time in which all processes waited for a disk.",
            [](const JobFigures& job) { return job.usage.ioPressureFull; }},
};
constexpr std::array kJobNumbers{
    JobNumber{"cgroup_cpus", "CPUs that the job is confined to.",
              [](const JobFigures& job) {
                  return job.limits.allowedCpus ? std::optional<std::uint64_t>(job.limits.allowedCpus->count()) : std::nullopt;
              }},
    JobNumber{"cgroup_memory_used_bytes", "Memory in use, page cache included.",
              [](const JobFigures& job) { return job.usage.memoryCurrent; }},
    JobNumber{"cgroup_memory_rss_bytes", "Memory in use without page cache.",
              [](const JobFigures& job) { return job.usage.memoryAnon; }},
    JobNumber{"cgroup_memory_shmem_bytes", "Shared memory and tmpfs in use.",
              [](const JobFigures& job) { return job.usage.memoryShmem; }},
    JobNumber{"cgroup_memory_need_bytes", "The highest sum of anonymous and shared memory so far.",
              [](const JobFigures& job) { return job.usage.memoryNeed; }},
    JobNumber{"cgroup_memory_cache_bytes", "Page cache, without shared memory.",
              [](const JobFigures& job) { return without(job.usage.memoryFile, job.usage.memoryShmem); }},
    JobNumber{"cgroup_memory_total_bytes", "The limit of memory.",
              [](const JobFigures& job) { return finite(job.limits.memoryMax); }},
    JobNumber{"cgroup_memory_fail_count",
              "How often the job reached a memory limit, and the kernel could not reclaim any of the job's memory.",
              [](const JobFigures& job) { return job.usage.oomEvents; }},
    JobNumber{"cgroup_oom_kills", "Processes that were killed because the job or the node was out of memory.",
              [](const JobFigures& job) { return job.usage.oomKills; }},
    JobNumber{"cgroup_memsw_used_bytes", "Swap in use.", [](const JobFigures& job) { return job.usage.swapCurrent; }},
    JobNumber{"cgroup_memsw_total_bytes", "The limit of swap.",
              [](const JobFigures& job) { return finite(job.limits.memorySwapMax); }},
};

std::string cgroupOf(const JobKey& key) { return "/" + std::string(kBatchSlice) + "/" + key.sliceName(); }

void addGpus(Exposition& out, const std::vector<JobFigures>& jobs) {
    if (std::ranges::all_of(jobs, [](const JobFigures& job) { return job.gpus.empty(); }))
        return;
    out.metric("cgroup_gpu_info", "gauge", "A GPU that the job holds.");
    for (const auto& job : jobs)
        for (const auto& [number, id] : job.gpus) {
            Labels labels{{"cgroup", cgroupOf(job.key)}, {"gpu", std::to_string(number)}};
            if (!id.empty())
                labels.emplace_back("id", id);
            out.sample(labels, 1);
        }
}

void addJobs(Exposition& out, const std::vector<JobFigures>& jobs) {
    out.metric("cgroup_info", "gauge", "The key and the user of the job that has the cgroup.");
    for (const auto& job : jobs) {
        Labels labels{{"cgroup", cgroupOf(job.key)}, {"uid", std::to_string(job.uid)}, {"jobid", job.key.text()}};
        if (job.user)
            labels.emplace_back("username", *job.user);
        out.sample(labels, 1);
    }
    addGpus(out, jobs);
    const auto each = [&](const auto& metric, auto add) {
        bool begun = false;
        for (const auto& job : jobs) {
            const auto value = metric.value(job);
            if (value && !std::exchange(begun, true))
                out.metric(metric.name, "gauge", metric.help);
            if (value)
                (out.*add)({{"cgroup", cgroupOf(job.key)}}, *value);
        }
    };
    for (const auto& metric : kJobSeconds)
        each(metric, &Exposition::seconds);
    for (const auto& metric : kJobNumbers)
        each(metric, &Exposition::sample);
}

} // namespace

std::string_view toString(Trouble trouble) { return kTroubles[trouble]; }

std::vector<std::string> troubleNames() { return kTroubles.all(); }

NodeCounts::NodeCounts() {
    // Each series begins with the value 0 when pinfoldd starts. If a series appeared only at the first event, the first value
    // would be 1. If the first value of a series were 1, rate() and increase() of Prometheus would miss the first event.
    for (const auto& name : jobResultNames())
        jobsEnded[*jobResultFromString(name)] = 0;
    for (const auto& name : kTroubles.all())
        errors[*kTroubles.find(name)] = 0;
    forEachOrphanKind(Reconciliation{}, [this](const char* kind, const auto&) { orphans[kind] = 0; });
}

void NodeCounts::add(const Receipt& receipt) {
    ++jobsEnded[receipt.result];
    leftoverProcesses += receipt.leftovers.count;
    leftoverJobs += receipt.leftovers.count > 0;
    oomKills += receipt.usage.oomKills.value_or(0);
}

std::string metricsText(const NodeMetrics& metrics) {
    Exposition out;
    addNode(out, metrics);
    if (!metrics.each.empty())
        addJobs(out, metrics.each);
    return out.text();
}

} // namespace pinfold
