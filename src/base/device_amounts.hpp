// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Returns a number such as "8:0" for the path of a block device. For the path of a partition, the result is the number of the
/// whole disk. If systemd gets the path of a partition, systemd applies the limit to the whole disk. Returns nullopt if the path
/// is not a block device.
using DeviceNumbers = std::function<std::optional<std::string>(const std::string& path)>;

/// Holds an amount for each of several block devices, as systemd's setting IOReadBandwidthMax= does.
struct DeviceAmounts {
    /// The path of a device begins with /dev/ and has at most kMaxPath characters. The path consists of printable ASCII
    /// characters, without blanks and commas. No part of the path is "." or "..". The path is not below /dev/shm or /dev/fd.
    static constexpr std::size_t kMaxPath = 200;
    static constexpr std::size_t kMaxDevices = 64;

    /// Reads a text such as "/dev/sda 10M, /dev/nvme0n1 infinity". Returns InvalidArgument for an empty list, a device that is
    /// listed twice, or a wrong path.
    static Result<DeviceAmounts> parse(std::string_view text);
    /// Reads a text that pinfoldd has stored. An earlier version of parse() accepted paths such as /dev/shm/disk.
    static Result<DeviceAmounts> parseStored(std::string_view text);
    /// Removes the devices that parse() does not accept, and returns the paths of these devices.
    std::vector<std::string> dropUnsteady();

    /// Returns a text such as "/dev/nvme0n1 infinity, /dev/sda 10485760". The text is sorted, and its numbers have no suffixes,
    /// so equal lists have equal texts.
    std::string toString() const;
    bool operator==(const DeviceAmounts&) const = default;

    std::map<std::string, std::uint64_t> amounts; ///< the amount of each device, by the path of the device
};

} // namespace pinfold
