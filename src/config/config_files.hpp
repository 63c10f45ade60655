// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/config.hpp"

namespace pinfold {

/// Returns the main file of the configuration, and then the drop-ins, sorted by name. loadConfig() reads the files in the order
/// in which configFiles() returns them. configFiles() leaves out each file that another file replaces (see ConfigPaths).
std::vector<std::filesystem::path> configFiles(const ConfigPaths& paths);

} // namespace pinfold
