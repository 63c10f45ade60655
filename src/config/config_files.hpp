// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/config.hpp"

namespace pinfold {

/// Returns the files of the configuration in the order in which loadConfig() reads them: the main file, and then the drop-ins by
/// name. configFiles() leaves out each file that another file replaces (see ConfigPaths).
std::vector<std::filesystem::path> configFiles(const ConfigPaths& paths);

} // namespace pinfold
