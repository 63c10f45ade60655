// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/limit_variables.hpp"

#include "base/parse.hpp"

#include <algorithm>

namespace pinfold {
namespace {

constexpr std::uint64_t kUsecPerCpu = 1'000'000; // the CPU time that one CPU provides in a second, in microseconds
constexpr std::uint64_t kUsecPerSecond = 1'000'000;
constexpr const char* kOmpVariable = "OMP_NUM_THREADS";

/// Returns how many CPUs the job can keep busy. The result is the smallest of three numbers: the slots, the listed CPUs, and the
/// CPUs of the quota. cpusOf() rounds the job's CPU quota up to whole CPUs. The result is unset if the job has no slots, no list
/// of CPUs and no CPU quota.
std::optional<std::uint64_t> cpusOf(const JobRecord& record) {
    auto least = record.slots;
    const auto atMost = [&least](std::uint64_t cpus) { least = std::min(least.value_or(cpus), cpus); };
    if (record.limits.allowedCpus)
        atMost(record.limits.allowedCpus->count());
    if (const auto quota = finite(record.limits.cpuQuota))
        atMost(*quota / kUsecPerCpu + (*quota % kUsecPerCpu > 0 ? 1 : 0));
    return least;
}

/// Returns the time at which pinfoldd or the batch system ends the job, in seconds since 1970.
std::optional<std::uint64_t> endTimeOf(const JobRecord& record) {
    const auto limit = runTimeEnd(record.limits);
    if (!limit)
        return std::nullopt;
    return toUsec(after(after(record.created, Microseconds(*limit)), record.suspended)) / kUsecPerSecond;
}

} // namespace

bool isLimitVariable(std::string_view name) {
    return name == kOmpVariable || std::find(kLimitVariables.begin(), kLimitVariables.end(), name) != kLimitVariables.end();
}

void setLimitVariables(JobRecord& record, bool ompThreads) {
    auto& environment = record.allocation.environment;
    const auto set = [&environment](const char* name, const std::optional<std::uint64_t>& value) {
        if (value)
            environment.insert_or_assign(name, std::to_string(*value));
        else
            environment.erase(name);
    };
    environment.insert_or_assign(kJobVariable, record.key.text());
    const auto cpus = cpusOf(record);
    set("PINFOLD_CPUS", cpus);
    if (ompThreads)
        set(kOmpVariable, cpus);
    environment.erase("PINFOLD_CPU_LIST");
    if (record.limits.allowedCpus)
        environment.emplace("PINFOLD_CPU_LIST", record.limits.allowedCpus->toString());
    set("PINFOLD_MEMORY_MAX", finite(record.limits.memoryMax));
    set("PINFOLD_TASKS_MAX", finite(record.limits.tasksMax));
    set("PINFOLD_END_TIME", endTimeOf(record));
}

} // namespace pinfold
