// SPDX-License-Identifier: LGPL-2.1-or-later
// The allow-list: every property that ever reaches systemd is made here, from typed values. Pure.
#pragma once

#include "model/device_rule.hpp"
#include "model/job_key.hpp"
#include "model/resource_limits.hpp"
#include "systemd/systemd_manager.hpp"

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// What a unit of a job is made from.
struct TaskProperties {
    ResourceLimits limits;
    std::optional<DeviceRules> devices; ///< only these and the harmless ones (DevicePolicy=closed); unset: all
    bool shepherd = false;              ///< a kill for memory must not take the task's leader along
};

/// Properties of a job's slice: its limits, accounting, Description, its place in the order of a shutdown.
std::vector<UnitProperty> sliceProperties(const JobKey& key, const TaskProperties& job);

/// Properties of a task's scope: Slice, PIDs, CollectMode, OOMPolicy and so on; task 0 repeats the job's limits, so that
/// `systemctl show` of the scope tells the truth.
std::vector<UnitProperty> scopeProperties(const JobKey& key, std::uint32_t task, const TaskProperties& job,
                                          const std::vector<pid_t>& pids);

/// Of a service that runs a program once, for at most 5 min, and is gone afterwards.
std::vector<UnitProperty> programProperties(std::string description);

/// The properties of limits alone, for a change of a live unit.
std::vector<UnitProperty> limitProperties(const ResourceLimits& limits);

/// A file of a cgroup, without the trailing line break; nullopt when it is not there.
using CgroupReader = std::function<std::optional<std::string>(const char* file)>;

/// One limit as the cgroup shows it once systemd has set it.
struct ExpectedCgroupValue {
    const char* limit; ///< name as in forEachLimit()
    const char* file;  ///< below the slice's cgroup
    std::string value; ///< the file's text, or a word of the device's line
    std::string device = {};
    const char* fallbackFile = nullptr; ///< looked at where `file` is not there
    std::string fallbackValue = {};

    bool holds(const CgroupReader& read) const;
};
/// What to read back after the start: where a controller is missing systemd accepts a property and nothing happens.
/// Memory is rounded down to pages as the kernel does.
std::vector<ExpectedCgroupValue> expectedCgroupValues(const ResourceLimits& limits, std::uint64_t pageSize,
                                                      const DeviceNumbers& numbers);

} // namespace pinfold
