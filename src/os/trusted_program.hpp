// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <filesystem>

namespace pinfold {

/// Checks a program that is to be run as root, and returns its path without symbolic links. The program and every directory above
/// it must belong to root, and nobody else may write to them. Error: ConfigInvalid, which says which of them is wrong.
Result<std::filesystem::path> trustedProgram(const std::filesystem::path& program);

} // namespace pinfold
