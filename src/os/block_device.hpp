// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace pinfold {

/// "8:0" for "/dev/sda", for "/dev/sda1" and for a "/dev/dm-0" that is on them alone, as systemd takes it: limits and counters of
/// cgroups are of whole disks (cgroup-v2.rst, io.max). Nullopt when the path is no block device. `sysfs` is prefixed to /sys.
std::optional<std::string> wholeDiskBelow(const std::filesystem::path& sysfs, const std::string& path);
std::optional<std::string> wholeDisk(const std::string& path);

/// "sda" for "8:0", from sysfs; the number itself where it has no name there.
std::string diskName(const std::string& number);

} // namespace pinfold
