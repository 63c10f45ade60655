// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace pinfold {

/// Returns "8:0" for "/dev/sda", for "/dev/sda1" and for a "/dev/dm-0" that is on these alone. systemd chooses the disk in the
/// same way, because limits and counters of cgroups are for whole disks (cgroup-v2.rst, io.max). Returns nullopt if the path is
/// not a block device. `sysfs` is the directory that has /sys.
std::optional<std::string> wholeDiskBelow(const std::filesystem::path& sysfs, const std::string& path);
std::optional<std::string> wholeDisk(const std::string& path);

/// Returns "sda" for "8:0", by sysfs. Returns the number itself if sysfs has no name for it.
std::string diskName(const std::string& number);

} // namespace pinfold
