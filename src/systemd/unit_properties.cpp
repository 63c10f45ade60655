// SPDX-License-Identifier: LGPL-2.1-or-later
#include "systemd/unit_properties.hpp"

#include "base/parse.hpp"

#include <algorithm>

namespace pinfold {
namespace {

// Our own timer rules the grace; this bounds a stop that PID 1 does on its own, at shutdown.
constexpr std::uint64_t kTimeoutStop = 30'000'000;
constexpr std::uint64_t kUsecPerSecond = 1'000'000;
constexpr std::uint64_t kDefaultPeriod = 100'000;
constexpr std::uint64_t kMaxPeriod = 1'000'000; // the kernel's, sched-bwc.rst
constexpr std::uint64_t kMinQuota = 1'000;      // likewise

using Properties = std::vector<UnitProperty>;

void appendLimits(Properties& properties, const ResourceLimits& limits) {
    if (limits.memoryMax)
        properties.push_back({"MemoryMax", *limits.memoryMax});
    if (limits.cpuQuota)
        properties.push_back({"CPUQuotaPerSecUSec", *limits.cpuQuota});
    if (limits.cpuWeight)
        properties.push_back({"CPUWeight", *limits.cpuWeight});
    if (limits.allowedCpus)
        properties.push_back({"AllowedCPUs", limits.allowedCpus->toBitmap()});
    if (limits.tasksMax)
        properties.push_back({"TasksMax", *limits.tasksMax});
}

void appendCommon(Properties& properties, std::string description) {
    // A line break here would become live unit settings after a daemon-reload: keys can't hold one, and they go in escaped.
    properties.push_back({"Description", std::move(description)});
    // Else a unit that needed SIGKILL stays as failed and blocks its name.
    properties.push_back({"CollectMode", std::string("inactive-or-failed")});
    for (const char* accounting : {"CPUAccounting", "MemoryAccounting", "TasksAccounting", "IOAccounting"})
        properties.push_back({accounting, true});
}

std::string describe(const char* what, const JobKey& key) {
    auto shown = key.escaped().substr(0, 100);
    // A torn "\\xNN" would leave a backslash at the end, with which the line goes on in the next setting after a daemon-reload.
    if (const auto escape = shown.rfind('\\'); escape != std::string::npos && escape + 4 > shown.size())
        shown.resize(escape);
    return what + shown;
}

std::string cpuMax(std::uint64_t quotaPerSecond) {
    if (quotaPerSecond == kInfinity)
        return "max " + std::to_string(kDefaultPeriod);
    // As systemd does: a longer period where the quota within the usual one were below the kernel's least.
    auto period = kDefaultPeriod;
    if (quotaPerSecond * period / kUsecPerSecond < kMinQuota)
        period = std::min(kMaxPeriod, kMinQuota * kUsecPerSecond / quotaPerSecond);
    const auto quota = std::max(kMinQuota, quotaPerSecond * period / kUsecPerSecond);
    return std::to_string(quota) + " " + std::to_string(period);
}

std::string maxOr(std::uint64_t value) { return value == kInfinity ? "max" : std::to_string(value); }

} // namespace

std::vector<UnitProperty> sliceProperties(const JobKey& key, const ResourceLimits& limits) {
    Properties properties;
    appendCommon(properties, describe("Batch job ", key));
    appendLimits(properties, limits);
    return properties;
}

std::vector<UnitProperty> scopeProperties(const JobKey& key, std::uint32_t task, const ResourceLimits& limits,
                                          const std::vector<pid_t>& pids) {
    Properties properties;
    appendCommon(properties, describe("Batch job ", key) + (task == 0 ? "" : ", task " + std::to_string(task)));
    properties.push_back({"Slice", key.sliceName()});
    properties.push_back({"PIDs", std::vector<std::uint32_t>(pids.begin(), pids.end())});
    properties.push_back({"TimeoutStopUSec", kTimeoutStop});
    // The whole task at once, by the kernel. systemd's own default has PID 1 stop the scope after one process was killed.
    properties.push_back({"OOMPolicy", std::string("kill")});
    if (task == 0)
        appendLimits(properties, limits);
    return properties;
}

std::vector<ExpectedCgroupValue> expectedCgroupValues(const ResourceLimits& limits, std::uint64_t pageSize) {
    std::vector<ExpectedCgroupValue> expected;
    if (limits.memoryMax)
        expected.push_back({"memory_max", "memory.max",
                            *limits.memoryMax == kInfinity ? "max" : std::to_string(*limits.memoryMax / pageSize * pageSize)});
    if (limits.cpuQuota)
        expected.push_back({"cpu_quota", "cpu.max", cpuMax(*limits.cpuQuota)});
    if (limits.cpuWeight)
        expected.push_back({"cpu_weight", "cpu.weight", std::to_string(*limits.cpuWeight)});
    if (limits.allowedCpus)
        expected.push_back({"allowed_cpus", "cpuset.cpus", limits.allowedCpus->toString()});
    if (limits.tasksMax)
        expected.push_back({"tasks_max", "pids.max", maxOr(*limits.tasksMax)});
    return expected;
}

} // namespace pinfold
