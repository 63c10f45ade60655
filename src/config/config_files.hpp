// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/config.hpp"

namespace pinfold {

/// The files that make up the configuration, in the order in which they are read: main file, then drop-ins by name. Masked ones
/// are left out.
std::vector<std::filesystem::path> configFiles(const ConfigPaths& paths);

} // namespace pinfold
