// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "os/file_status.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

namespace pinfold {

/// Finds the files that a process has mapped into its memory, and returns the files on the given devices (FileId::device). `text`
/// is the text of /proc/PID/maps (proc(5)). Returns nullopt if a line does not have the form of proc(5).
std::optional<std::set<FileId>> mappedFiles(std::string_view text, const std::set<std::uint64_t>& devices);

} // namespace pinfold
