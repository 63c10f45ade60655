// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/block_device.hpp"

#include "os/read_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace pinfold {
namespace {

constexpr int kMaxLinks = 8;
constexpr int kMaxLayers = 8; // the maximum number of device mapper layers that pinfold follows

std::optional<std::string> line(const std::string& file) {
    auto text = readFile(AT_FDCWD, file.c_str());
    if (text && text->ends_with('\n'))
        text->pop_back();
    return text;
}

/// Follows at most kMaxLinks symbolic links, for example from "/dev/disk/by-id/x" to "/dev/sda".
std::filesystem::path followed(std::filesystem::path path) {
    std::error_code none;
    for (int i = 0; i < kMaxLinks && std::filesystem::is_symlink(path, none); ++i) {
        const auto target = std::filesystem::read_symlink(path, none);
        path = (path.parent_path() / target).lexically_normal();
    }
    return path;
}

/// Returns the device number of the disk that contains a device. The device can be a partition. If a device is on several disks
/// or on no disk, the result is the device's own number. `entry` is the directory of the device in sysfs.
std::optional<std::string> diskOf(const std::filesystem::path& entry, int layers) {
    std::set<std::optional<std::string>> below;
    std::error_code error;
    if (layers > 0)
        for (std::filesystem::directory_iterator slave(entry / "slaves", error), end; !error && slave != end;
             slave.increment(error))
            below.insert(diskOf(slave->path(), layers - 1));
    if (below.size() == 1)
        return *below.begin();
    const bool isPartition = ::access((entry / "partition").c_str(), F_OK) == 0;
    return line(entry.string() + (isPartition ? "/../dev" : "/dev"));
}

} // namespace

std::optional<std::string> wholeDiskBelow(const std::filesystem::path& sysfs, const std::string& path) {
    // wholeDiskBelow() reads sysfs and does not open the device, because pinfoldd's own /dev has no disks.
    auto name = followed(path).string();
    constexpr std::string_view dev = "/dev/";
    if (!name.starts_with(dev))
        return std::nullopt;
    name.erase(0, dev.size());
    std::replace(name.begin(), name.end(), '/', '!'); // the names in sysfs contain '!' in place of '/'
    return diskOf(sysfs / "sys/class/block" / name, kMaxLayers);
}

std::optional<std::string> wholeDisk(const std::string& path) { return wholeDiskBelow("/", path); }

std::string diskName(const std::string& number) {
    std::error_code error;
    const auto link = std::filesystem::read_symlink("/sys/dev/block/" + number, error);
    return error ? number : link.filename().string();
}

} // namespace pinfold
