// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <filesystem>

namespace pinfold {

/// Checks a program that will run as root, and returns the program's path without symbolic links. The program and every directory
/// above it must belong to root. Only root may have write access to the program and the directories above it. The message of the
/// error ConfigInvalid names the program or directory that trustedProgram() rejects.
Result<std::filesystem::path> trustedProgram(const std::filesystem::path& program);

} // namespace pinfold
