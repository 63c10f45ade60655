// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace pinfold {

/// Returns the device number of a whole disk, such as "8:0" for "/dev/sda" and for its partition "/dev/sda1". If a device such as
/// "/dev/dm-0" uses only one disk, the result is the number of this disk. The kernel limits and counts a cgroup's I/O only for
/// whole disks (cgroup-v2.rst, io.max). If the configured device of a limit is a partition, systemd applies the limit to the
/// whole disk. Returns nullopt if the path is not a block device. The argument `sysfs` is the directory that contains "sys".
/// Outside of tests, `sysfs` is "/".
std::optional<std::string> wholeDiskBelow(const std::filesystem::path& sysfs, const std::string& path);
std::optional<std::string> wholeDisk(const std::string& path);

/// Returns the name of a disk in sysfs, such as "sda" for "8:0". If sysfs does not know the disk, diskName() returns its
/// argument.
std::string diskName(const std::string& number);

} // namespace pinfold
