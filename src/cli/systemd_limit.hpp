// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "os/cgroup.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace pinfold {

/// Returns the maximum number of processes and threads that the kernel allows in each task of a job. For a job without the limit
/// tasks_max, the number is a setting of systemd, usually DefaultTasksMax=. If the tasks have different limits, returns the
/// smallest of them. Returns nullopt if the kernel enforces no limit, for example because the node has no controller for it.
std::optional<std::uint64_t> systemdTasksMax(const CgroupTree& cgroups, const std::string& key);

} // namespace pinfold
