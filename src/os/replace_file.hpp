// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <filesystem>
#include <string_view>

namespace pinfold {

/// What the temporary file of replaceFile() ends in.
constexpr std::string_view kTemporarySuffix = ".tmp";

/// Puts `text` in place of the file by a temporary file beside it, ".<name>.tmp", and rename: a reader sees the old text or the
/// new one, never half, and a failure leaves the old. The mode is `mode` whatever the umask. What stands at the temporary
/// name is removed, not written to: the directory may be another user's. No fsync. Error: Internal, with the file's name.
Result<void> replaceFile(const std::filesystem::path& file, std::string_view text, mode_t mode);

/// The same, and it is on the disk when this returns: a loss of power doesn't take it back.
Result<void> replaceFileDurably(const std::filesystem::path& file, std::string_view text, mode_t mode);
/// Likewise. A file that is not there is none the worse. Error: Internal, with the file's name.
Result<void> removeFileDurably(const std::filesystem::path& file);

} // namespace pinfold
