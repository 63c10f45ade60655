// SPDX-License-Identifier: LGPL-2.1-or-later
// The allow-list: every property that ever reaches systemd is made here, from typed values. Pure.
#pragma once

#include "model/job_key.hpp"
#include "model/resource_limits.hpp"
#include "systemd/systemd_manager.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace pinfold {

/// Properties of a job's slice: its limits, accounting, Description.
std::vector<UnitProperty> sliceProperties(const JobKey& key, const ResourceLimits& limits);

/// Properties of a task's scope: Slice, PIDs, CollectMode, OOMPolicy and so on; task 0 repeats the job's limits, so that
/// `systemctl show` of the scope tells the truth.
std::vector<UnitProperty> scopeProperties(const JobKey& key, std::uint32_t task, const ResourceLimits& limits,
                                          const std::vector<pid_t>& pids);

/// One limit as the cgroup shows it once systemd has set it.
struct ExpectedCgroupValue {
    const char* limit; ///< name as in forEachLimit()
    const char* file;  ///< below the slice's cgroup
    std::string value;
};
/// What to read back after the start: where a controller is missing systemd accepts a property and nothing happens.
/// Memory is rounded down to pages as the kernel does.
std::vector<ExpectedCgroupValue> expectedCgroupValues(const ResourceLimits& limits, std::uint64_t pageSize);

} // namespace pinfold
