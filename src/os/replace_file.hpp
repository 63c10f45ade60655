// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <filesystem>
#include <string_view>

namespace pinfold {

/// The end of the name of replaceFile()'s temporary file.
constexpr std::string_view kTemporarySuffix = ".tmp";

/// Replaces the file's contents by `text`. It writes a temporary file beside the file, ".<name>.tmp", and renames it. So a reader
/// sees the old text or the new text, never half, and a failure leaves the old text. The mode is `mode`, whatever the umask. A
/// file that has the temporary name already is removed, not written to, because the directory may be another user's. No fsync.
/// Error: Internal, with the file's name.
Result<void> replaceFile(const std::filesystem::path& file, std::string_view text, mode_t mode);

/// As replaceFile(), and the text is on the disk when this returns, so that it survives a loss of power.
Result<void> replaceFileDurably(const std::filesystem::path& file, std::string_view text, mode_t mode);
/// Removes the file, and the removal is on the disk when this returns. A file that does not exist is not an error. Error:
/// Internal, with the file's name.
Result<void> removeFileDurably(const std::filesystem::path& file);

} // namespace pinfold
