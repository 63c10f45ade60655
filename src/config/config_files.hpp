// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/config.hpp"

namespace pinfold {

/// The files that make up the configuration, in the order in which they are read: the main file, then the drop-ins by name.
/// Masked files are left out.
std::vector<std::filesystem::path> configFiles(const ConfigPaths& paths);

} // namespace pinfold
