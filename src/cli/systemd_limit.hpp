// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "os/cgroup.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace pinfold {

/// Returns the maximum number of processes and threads that the kernel allows in each task of a job. If the job has no limit
/// tasks_max, the kernel's limit comes from a setting of systemd, usually DefaultTasksMax=. If the tasks have different limits,
/// systemdTasksMax() returns the lowest limit. Returns nullopt if the kernel enforces no limit, for example because the node
/// lacks the cgroup controller pids.
std::optional<std::uint64_t> systemdTasksMax(const CgroupTree& cgroups, const std::string& key);

} // namespace pinfold
