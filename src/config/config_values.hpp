// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "config/config.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pinfold {

/// Holds the value of a configuration key. If several files set the key, the value in the last of these files is in force.
struct ConfigValue {
    std::string section; ///< the section of the key, for example "jobs" or "devices.fuse"
    std::string key;
    std::string json; ///< the value of the key as JSON
    std::filesystem::path file;
    std::uint32_t line = 0;
};

/// Returns all values of the configuration, sorted by section and key. configValues() does not check the values, so the values
/// can be invalid. Fails with ConfigInvalid if a file cannot be parsed.
Result<std::vector<ConfigValue>> configValues(const ConfigPaths& paths);

} // namespace pinfold
