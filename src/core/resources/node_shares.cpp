// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/resources/node_shares.hpp"

#include "base/parse.hpp"
#include "model/idleness.hpp"

#include <algorithm>
#include <cmath>

namespace pinfold {
namespace {

constexpr std::uint64_t kCpu = 1'000'000; // the CPU time that one CPU provides in a second, in microseconds
constexpr double kMostCpus = 1e12;        // the maximum number of CPUs: a much larger number, multiplied by kCpu, would overflow

/// Adds `held` to the share. The argument `held` is the amount that one job holds. If `held` is unset or infinite, give() adds 1
/// to the number of jobs without a limit.
void give(NodeShare& share, std::optional<std::uint64_t> held) {
    if (!held || *held == kInfinity)
        ++*share.unlimitedJobs;
    else
        share.given = *held > kInfinity - *share.given ? kInfinity : *share.given + *held;
}

/// Returns the CPU time, in microseconds, that the job's CPUs provide in one second. If the job has reserved CPUs, cpusOf()
/// counts the reserved CPUs. If the job has no reserved CPUs, cpusOf() computes the result from the job's limits. If the job has
/// neither reserved CPUs nor limits on its CPUs, cpusOf() computes the result from the job's slots.
std::optional<std::uint64_t> cpusOf(const JobRecord& record) {
    if (const auto reserved = record.allocation.reserved.count(); reserved > 0)
        return reserved * kCpu;
    const auto held = cpusHeld(record.limits, record.slots);
    return held ? std::optional(static_cast<std::uint64_t>(std::llround(std::min(*held, kMostCpus) * kCpu))) : std::nullopt;
}

NodeShare cpus(const Core& core, BatchSliceShare& share) {
    NodeShare cpus{.given = 0, .unlimitedJobs = 0};
    if (const auto topology = share.topology()) {
        const auto all = topology->all();
        const auto forJobs = share.available("cpuset.cpus.effective").value_or(all);
        cpus.total = all.count() * kCpu;
        cpus.kept = all.without(forJobs).count() * kCpu;
    }
    for (const auto& [key, job] : core.registry.all())
        give(cpus, cpusOf(job->record));
    return withFree(cpus);
}

NodeShare memory(const Core& core, const BatchSliceShare& share) {
    NodeShare memory{.total = share.memoryOfNode(), .given = 0, .unlimitedJobs = 0};
    if (memory.total)
        memory.kept = share.memoryKept(*memory.total);
    for (const auto& [key, job] : core.registry.all())
        give(memory, job->record.limits.memoryMax);
    return withFree(memory);
}

NodeShare gpus(const Core& core) {
    const auto& devices = core.context.config.gpus.devices;
    if (devices.empty())
        return {};
    CpuList given;
    for (const auto& [key, job] : core.registry.all())
        given = given.united(job->record.allocation.gpus);
    return withFree({.total = devices.size(), .given = given.count()});
}

} // namespace

NodeResources nodeResources(const Core& core, BatchSliceShare& share) {
    return {.cpus = cpus(core, share), .memory = memory(core, share), .gpus = gpus(core)};
}

} // namespace pinfold
