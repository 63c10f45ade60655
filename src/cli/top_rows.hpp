// SPDX-License-Identifier: LGPL-2.1-or-later
// What `pinfold top` shows of a job, made of two looks at it.
#pragma once

#include "client/manager_client.hpp"
#include "model/usage.hpp"
#include "os/cgroup.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// A job at one moment.
struct TopJob {
    JobInfo info;
    std::uint64_t at = 0; ///< CLOCK_REALTIME, microseconds: when its cgroup was read
    Usage usage;
    CgroupDir::Bounds bounds;
};

struct TopSample {
    std::uint64_t at = 0; ///< CLOCK_REALTIME, microseconds
    std::vector<TopJob> jobs;
};

/// Unset is unknown.
struct TopRow {
    JobInfo job;
    std::uint64_t age = 0;                   ///< microseconds
    std::optional<double> cpu;               ///< percent of one core since the look before, the first time since the job's start
    std::optional<double> cpuOfAllowed;      ///< percent of the CPUs that it may use
    std::optional<std::uint64_t> cpuTime;    ///< microseconds since its start
    std::optional<std::uint64_t> memory;     ///< bytes
    std::optional<std::uint64_t> memoryMax;  ///< bytes; unset: also when there is no limit
    std::optional<std::uint64_t> memoryPeak; ///< bytes
    std::optional<std::uint64_t> readRate;   ///< bytes a second, as cpu
    std::optional<std::uint64_t> writeRate;  ///< bytes a second, as cpu
    std::optional<std::uint64_t> tasks;      ///< processes and threads
};

/// One row for each job of `now`, in its order.
std::vector<TopRow> topRows(const TopSample& before, const TopSample& now);

/// What sortRows() takes. `time` is CPU time since the job's start.
const std::vector<std::string>& sortNames();

/// The largest first, keys ascending. Unknown comes last, equals by key.
void sortRows(std::vector<TopRow>& rows, const std::string& name);

} // namespace pinfold
