// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "config/config.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pinfold {

/// A key that a file sets and no later file sets again.
struct ConfigValue {
    std::string section; ///< "jobs", "devices.fuse"
    std::string key;
    std::string json; ///< the value
    std::filesystem::path file;
    std::uint32_t line = 0;
};

/// All values, sorted by section and key. Only loadConfig() says whether they are valid. Error: ConfigInvalid for a file that
/// cannot be parsed.
Result<std::vector<ConfigValue>> configValues(const ConfigPaths& paths);

} // namespace pinfold
