// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <filesystem>
#include <string_view>

namespace pinfold {

/// The name of replaceFile()'s temporary file ends with kTemporarySuffix.
constexpr std::string_view kTemporarySuffix = ".tmp";

/// Replaces the file's contents with `text`. replaceFile() first writes the text to a temporary file ".<name>.tmp" in the same
/// directory. As the last step, replaceFile() gives the temporary file the name `file`. A reader sees either the old text or the
/// new text. If replaceFile() fails, the file keeps the old text. The new file has the mode `mode`, and the umask does not change
/// the mode. If a file with the temporary name exists already, replaceFile() removes that file and creates a new one.
/// replaceFile() never writes to an old temporary file, because another user could have created that file. The function
/// replaceFile() does no fsync. The message of the error Internal contains the file's name.
Result<void> replaceFile(const std::filesystem::path& file, std::string_view text, mode_t mode);

/// Replaces the file in the same way as replaceFile(). When replaceFileDurably() returns, the text is on the disk and survives a
/// loss of power.
Result<void> replaceFileDurably(const std::filesystem::path& file, std::string_view text, mode_t mode);
/// Removes the file. When removeFileDurably() returns, the removal is on the disk. It is not an error if the file does not
/// exist. The message of the error Internal contains the file's name.
Result<void> removeFileDurably(const std::filesystem::path& file);

} // namespace pinfold
