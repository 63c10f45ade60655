// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/cpu_list.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <optional>

namespace pinfold {

/// A job's limits. Unset: the kernel's default; kInfinity: explicitly none.
struct ResourceLimits {
    std::optional<std::uint64_t> memoryMax; ///< bytes, from 1 MiB
    std::optional<std::uint64_t> cpuQuota;  ///< microseconds of CPU time per second, from 10000
    std::optional<std::uint64_t> cpuWeight; ///< 1 to 10000
    std::optional<CpuList> allowedCpus;
    std::optional<std::uint64_t> tasksMax;   ///< processes and threads, from 1
    std::optional<std::uint64_t> runTimeMax; ///< microseconds of wall time, from 1 ms

    bool operator==(const ResourceLimits&) const = default;
};

/// Error: LimitInvalid, naming the limit, its value and its range.
Result<void> validate(const ResourceLimits& limits);

/// Each limit that is unset takes the default's value.
ResourceLimits withDefaults(ResourceLimits limits, const ResourceLimits& defaults);

/// The name of the first limit of `limits` that is looser than `ceiling` allows (unset is looser than any), or nullptr.
const char* looserThan(const ResourceLimits& limits, const ResourceLimits& ceiling);

/// Calls f(name, member) for each limit: the one list that the D-Bus, JSON and command line forms are made from.
template <class Limits, class F> void forEachLimit(Limits& limits, F&& f) {
    f("memory_max", limits.memoryMax);
    f("cpu_quota", limits.cpuQuota);
    f("cpu_weight", limits.cpuWeight);
    f("allowed_cpus", limits.allowedCpus);
    f("tasks_max", limits.tasksMax);
    f("run_time_max", limits.runTimeMax);
}

} // namespace pinfold
