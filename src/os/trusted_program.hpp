// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <filesystem>

namespace pinfold {

/// The program without symbolic links, for one that is run as root: it and every directory above it belong to root, and nobody
/// else may write to them. Error: ConfigInvalid, saying which of them is wrong.
Result<std::filesystem::path> trustedProgram(const std::filesystem::path& program);

} // namespace pinfold
