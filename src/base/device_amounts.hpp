// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// Gives "8:0" for the path of a block device: the number of the whole disk, as systemd takes it. nullopt: the path is not a
/// block device.
using DeviceNumbers = std::function<std::optional<std::string>(const std::string& path)>;

/// An amount for each of some block devices, as systemd's IOReadBandwidthMax= and its like take it.
struct DeviceAmounts {
    /// A device's path begins with /dev/, is printable ASCII without blanks, commas and "..", and has at most this length.
    static constexpr std::size_t kMaxPath = 200;
    static constexpr std::size_t kMaxDevices = 64;

    /// "/dev/sda 10M, /dev/nvme0n1 infinity". Error: InvalidArgument for an empty list, a device that is listed twice, or a wrong
    /// path.
    static Result<DeviceAmounts> parse(std::string_view text);

    /// "/dev/nvme0n1 infinity, /dev/sda 10485760": sorted, bytes written out. Equal lists have equal text.
    std::string toString() const;
    bool operator==(const DeviceAmounts&) const = default;

    std::map<std::string, std::uint64_t> amounts; ///< by device path
};

} // namespace pinfold
