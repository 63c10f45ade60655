// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes all unit properties that pinfoldd sends to systemd. The functions take only typed values, so pinfoldd cannot pass on an
// arbitrary property to systemd. All functions are pure.
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

/// Holds the data for a systemd unit that pinfoldd creates for a job.
struct TaskProperties {
    ResourceLimits limits;
    /// Lists the devices that the job is allowed to open. Because of DevicePolicy=closed, the job is also allowed to open
    /// harmless devices, such as /dev/null. If `devices` is unset, the job is allowed to open all devices.
    std::optional<DeviceRules> devices;
    bool shepherd = false; ///< if true, an out-of-memory kill must not end the task's leader
};

/// Returns the properties of a job's slice: the limits, the accounting, the description, and the slice's order at a shutdown.
std::vector<UnitProperty> sliceProperties(const JobKey& key, const TaskProperties& job);

/// Returns the properties of a task's scope, such as Slice, PIDs, CollectMode and OOMPolicy. The scope of task 0 gets the job's
/// limits, so that `systemctl show` shows the limits for the scope.
std::vector<UnitProperty> scopeProperties(const JobKey& key, std::uint32_t task, const TaskProperties& job,
                                          const std::vector<pid_t>& pids);

/// Returns the properties of a service that runs a program once, for at most 5 min. PID 1 removes the service after the
/// program's end.
std::vector<UnitProperty> programProperties(std::string description);

/// Returns only the properties for the limits. To change the limits of a live unit, pinfoldd sends only the properties for the
/// limits.
std::vector<UnitProperty> limitProperties(const ResourceLimits& limits);

/// Reads a file of a cgroup, without the trailing line break. Returns nullopt if the file does not exist.
using CgroupReader = std::function<std::optional<std::string>(const char* file)>;

/// Says which value a cgroup shows for one limit after systemd has set the limit.
struct ExpectedCgroupValue {
    const char* limit; ///< the name of the limit
    const char* file;  ///< the name of the file in the slice's cgroup
    std::string value; ///< the text of the file, or one word of the device's line if `device` is set
    std::string device = {};
    const char* fallbackFile = nullptr; ///< the file to read if `file` does not exist
    std::string fallbackValue = {};

    bool holds(const CgroupReader& read) const;
};
/// Returns the values that pinfoldd must find in the cgroup after the start of the unit. pinfoldd checks the values, because
/// systemd accepts a property even if the property's controller is missing. If the controller of a property is missing, the
/// property has no effect. Amounts of memory are rounded down to pages, as in the kernel.
std::vector<ExpectedCgroupValue> expectedCgroupValues(const ResourceLimits& limits, std::uint64_t pageSize,
                                                      const DeviceNumbers& numbers);

} // namespace pinfold
