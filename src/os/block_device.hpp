// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string>

namespace pinfold {

/// "8:0" for "/dev/sda" and for "/dev/sda1": limits and counters of cgroups are of whole disks (cgroup-v2.rst, io.max).
/// Nullopt when the path is no block device.
std::optional<std::string> wholeDisk(const std::string& path);

/// "sda" for "8:0", from sysfs; the number itself where it has no name there.
std::string diskName(const std::string& number);

} // namespace pinfold
