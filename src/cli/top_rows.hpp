// SPDX-License-Identifier: LGPL-2.1-or-later
// Computes the values in `pinfold top` from two measurements of each job.
#pragma once

#include "base/clock.hpp"
#include "bus_client/manager_client.hpp"
#include "model/usage.hpp"
#include "os/cgroup.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// Holds the figures of a job at one moment.
struct TopJob {
    JobInfo info;
    RealTime at{}; ///< when pinfold read the job's cgroup
    Usage usage;
    CgroupDir::Bounds bounds;
};

struct TopSample {
    RealTime at{};
    std::vector<TopJob> jobs;
};

/// Holds one row of `pinfold top`. If pinfold does not know a value, the member of TopRow for this value is unset.
struct TopRow {
    JobInfo job;
    Microseconds age{};
    /// `cpu` is the CPU use since the previous measurement, in percent of one core. The first measurement shows the CPU use since
    /// the job's start.
    std::optional<double> cpu;
    std::optional<double> cpuOfAllowed;         ///< CPU use in percent of the CPUs that the job is allowed to use
    std::optional<Microseconds> cpuTime;        ///< the CPU time since the job's start
    std::optional<std::uint64_t> memory;        ///< the job's anonymous and shared memory in bytes
    std::optional<std::uint64_t> memoryNeed;    ///< the highest value of `memory` so far, in bytes
    std::optional<std::uint64_t> cache;         ///< the job's page cache in bytes
    std::optional<std::uint64_t> memoryCurrent; ///< the job's memory including its page cache, in bytes
    /// The job's memory limit in bytes. The value is unset if there is no limit, or if the limit is not known.
    std::optional<std::uint64_t> memoryMax;
    std::optional<std::uint64_t> memoryPeak; ///< the highest value of memoryCurrent, in bytes
    std::optional<std::uint64_t> readRate;   ///< how many bytes the job has read per second since the previous measurement
    std::optional<std::uint64_t> writeRate;  ///< how many bytes the job has written per second since the previous measurement
    std::optional<std::uint64_t> tasks;      ///< the number of processes and threads of the job
};

/// Returns one row for each job of `now`, in the order of `now`.
std::vector<TopRow> topRows(const TopSample& before, const TopSample& now);

/// Returns the names of the columns by which sortRows() can sort. The column `time` is the CPU time since the job's start.
const std::vector<std::string>& sortNames();

/// Sorts the rows by the column with the given name. The column with the keys is sorted in ascending order, and every other
/// column is sorted in descending order. Rows without a value come last. Rows with equal values are sorted by key.
void sortRows(std::vector<TopRow>& rows, const std::string& name);

} // namespace pinfold
