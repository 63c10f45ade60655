// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "config/config.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pinfold {

/// A key that a file sets, and no later file.
struct ConfigValue {
    std::string section; ///< "jobs", "devices.fuse"
    std::string key;
    std::string json; ///< the value
    std::filesystem::path file;
    std::uint32_t line = 0;
};

/// By section and key. Whether they are right is loadConfig()'s to say. Error: ConfigInvalid, what cannot be parsed.
Result<std::vector<ConfigValue>> configValues(const ConfigPaths& paths);

} // namespace pinfold
