// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <filesystem>
#include <string_view>

namespace pinfold {

/// Writes a small file in a directory that only root writes to, by a temporary file and rename: a reader never sees half.
/// Error: Internal.
Result<void> replaceFile(const std::filesystem::path& file, std::string_view text, mode_t mode);

} // namespace pinfold
