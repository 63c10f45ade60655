// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "config/config.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pinfold {

/// Is the value of a key, from the last file that sets the key.
struct ConfigValue {
    std::string section; ///< for example "jobs", "devices.fuse"
    std::string key;
    std::string json; ///< the value as JSON
    std::filesystem::path file;
    std::uint32_t line = 0;
};

/// Returns all values, sorted by section and key, even if they are not valid: only loadConfig() checks them. Error: ConfigInvalid
/// for a file that cannot be parsed.
Result<std::vector<ConfigValue>> configValues(const ConfigPaths& paths);

} // namespace pinfold
