// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/resource_limits.hpp"

#include "base/parse.hpp"

#include <array>
#include <string>
#include <string_view>
#include <type_traits>

namespace pinfold {
namespace {

struct Range {
    std::string_view limit;
    std::uint64_t least;
    std::uint64_t most;
    const char* words;
};

constexpr std::array kRanges{
    Range{"memory_max", 1 << 20, kInfinity, "at least 1M (1048576 bytes)"},
    Range{"cpu_quota", 10'000, kInfinity, "at least 1% of a CPU (10000 microseconds per second)"},
    Range{"cpu_weight", 1, 10'000, "1 to 10000"},
    Range{"tasks_max", 1, kInfinity, "at least 1"},
    Range{"run_time_max", 1'000, kInfinity, "at least 1 ms (1000 microseconds)"},
};

const Range& rangeOf(std::string_view limit) {
    for (const auto& range : kRanges)
        if (range.limit == limit)
            return range;
    static_assert(kRanges.size() == 5, "one row for each numeric limit of forEachLimit()");
    return kRanges.front();
}

bool looser(const std::optional<std::uint64_t>& limit, const std::optional<std::uint64_t>& ceiling) {
    return ceiling && (!limit || *limit > *ceiling);
}

bool looser(const std::optional<CpuList>& limit, const std::optional<CpuList>& ceiling) {
    return ceiling && (!limit || !ceiling->contains(*limit));
}

} // namespace

Result<void> validate(const ResourceLimits& limits) {
    Result<void> result;
    forEachLimit(limits, [&result](const char* name, const auto& limit) {
        if constexpr (std::is_same_v<std::decay_t<decltype(limit)>, std::optional<std::uint64_t>>) {
            const auto& range = rangeOf(name);
            if (limit && (*limit < range.least || *limit > range.most) && result)
                result = Error{ErrorCode::LimitInvalid,
                               std::string(name) + " " + std::to_string(*limit) + " is out of range: use " + range.words};
        }
    });
    return result;
}

ResourceLimits withDefaults(ResourceLimits limits, const ResourceLimits& defaults) {
    const auto take = [](auto& limit, const auto& fallback) {
        if (!limit)
            limit = fallback;
    };
    take(limits.memoryMax, defaults.memoryMax);
    take(limits.cpuQuota, defaults.cpuQuota);
    take(limits.cpuWeight, defaults.cpuWeight);
    take(limits.allowedCpus, defaults.allowedCpus);
    take(limits.tasksMax, defaults.tasksMax);
    take(limits.runTimeMax, defaults.runTimeMax);
    return limits;
}

const char* looserThan(const ResourceLimits& limits, const ResourceLimits& ceiling) {
    if (looser(limits.memoryMax, ceiling.memoryMax))
        return "memory_max";
    if (looser(limits.cpuQuota, ceiling.cpuQuota))
        return "cpu_quota";
    if (looser(limits.cpuWeight, ceiling.cpuWeight))
        return "cpu_weight";
    if (looser(limits.allowedCpus, ceiling.allowedCpus))
        return "allowed_cpus";
    if (looser(limits.tasksMax, ceiling.tasksMax))
        return "tasks_max";
    if (looser(limits.runTimeMax, ceiling.runTimeMax))
        return "run_time_max";
    return nullptr;
}

} // namespace pinfold
