// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

namespace pinfold {

/// Holds one value of DeviceAllow= (systemd.resource-control(5)). All values come from the configuration, and never from a
/// request. Only root can write the configuration.
struct DeviceRule {
    std::string device; ///< a device or a group of devices, for example "/dev/fuse", "char-pts", "block-*"
    std::string access; ///< the kinds of access: some of the letters "rwm"

    bool operator==(const DeviceRule&) const = default;
};

using DeviceRules = std::vector<DeviceRule>;

} // namespace pinfold
