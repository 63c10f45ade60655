// SPDX-License-Identifier: LGPL-2.1-or-later
// The allow-list of properties. Every property that ever reaches systemd is made here, from typed values. Pure.
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

/// The data from which a unit of a job is made.
struct TaskProperties {
    ResourceLimits limits;
    std::optional<DeviceRules> devices; ///< only these devices and the harmless ones (DevicePolicy=closed); unset: all devices
    bool shepherd = false;              ///< a kill because memory ran out must not end the task's leader
};

/// The properties of a job's slice: its limits, accounting, Description, and its place in the order of a shutdown.
std::vector<UnitProperty> sliceProperties(const JobKey& key, const TaskProperties& job);

/// The properties of a task's scope: Slice, PIDs, CollectMode, OOMPolicy and so on. Task 0 repeats the job's limits, so that
/// `systemctl show` of the scope shows them.
std::vector<UnitProperty> scopeProperties(const JobKey& key, std::uint32_t task, const TaskProperties& job,
                                          const std::vector<pid_t>& pids);

/// The properties of a service that runs a program once, for at most 5 min, and is gone afterwards.
std::vector<UnitProperty> programProperties(std::string description);

/// Only the properties for the limits, to change a live unit.
std::vector<UnitProperty> limitProperties(const ResourceLimits& limits);

/// Reads a file of a cgroup, without the trailing line break. nullopt: the file does not exist.
using CgroupReader = std::function<std::optional<std::string>(const char* file)>;

/// What the cgroup shows for one limit when systemd has set it.
struct ExpectedCgroupValue {
    const char* limit; ///< its name
    const char* file;  ///< the file's name in the slice's cgroup
    std::string value; ///< the file's text, or a word of the device's line
    std::string device = {};
    const char* fallbackFile = nullptr; ///< read if `file` does not exist
    std::string fallbackValue = {};

    bool holds(const CgroupReader& read) const;
};
/// What to read after the start, because systemd accepts a property even if its controller is missing, and then nothing happens.
/// Memory is rounded down to pages, as the kernel does.
std::vector<ExpectedCgroupValue> expectedCgroupValues(const ResourceLimits& limits, std::uint64_t pageSize,
                                                      const DeviceNumbers& numbers);

} // namespace pinfold
