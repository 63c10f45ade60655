// SPDX-License-Identifier: LGPL-2.1-or-later
// What `pinfold top` shows of a job, computed from two looks at the job.
#pragma once

#include "bus_client/manager_client.hpp"
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
    std::uint64_t at = 0; ///< when its cgroup was read: CLOCK_REALTIME, microseconds
    Usage usage;
    CgroupDir::Bounds bounds;
};

struct TopSample {
    std::uint64_t at = 0; ///< CLOCK_REALTIME, microseconds
    std::vector<TopJob> jobs;
};

/// One row of `pinfold top`. Unset: unknown.
struct TopRow {
    JobInfo job;
    std::uint64_t age = 0;              ///< microseconds
    std::optional<double> cpu;          ///< percent of one core since the previous look; at the first look since the job's start
    std::optional<double> cpuOfAllowed; ///< percent of the CPUs that the job may use
    std::optional<std::uint64_t> cpuTime;    ///< microseconds since the job's start
    std::optional<std::uint64_t> memory;     ///< bytes
    std::optional<std::uint64_t> memoryMax;  ///< bytes; also unset when there is no limit
    std::optional<std::uint64_t> memoryPeak; ///< bytes
    std::optional<std::uint64_t> readRate;   ///< bytes a second, over the same time as cpu
    std::optional<std::uint64_t> writeRate;  ///< bytes a second, over the same time as cpu
    std::optional<std::uint64_t> tasks;      ///< processes and threads
};

/// One row for each job of `now`, in the same order.
std::vector<TopRow> topRows(const TopSample& before, const TopSample& now);

/// The names that sortRows() takes. `time` is CPU time since the job's start.
const std::vector<std::string>& sortNames();

/// Sorts by the column of this name: the largest first, keys ascending. Unknown values come last, and equal ones are sorted by
/// key.
void sortRows(std::vector<TopRow>& rows, const std::string& name);

} // namespace pinfold
