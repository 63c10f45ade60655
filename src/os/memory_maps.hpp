// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "os/file_status.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

namespace pinfold {

/// Returns those files on the given devices (FileId::device) that a process has mapped into its memory. `text` is the text of
/// /proc/PID/maps (proc(5)). Returns nullopt if a line has another form.
std::optional<std::set<FileId>> mappedFiles(std::string_view text, const std::set<std::uint64_t>& devices);

} // namespace pinfold
