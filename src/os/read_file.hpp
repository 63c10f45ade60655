// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace pinfold {

/// Returns at most `maxBytes` bytes of a small file, or nullopt if the file cannot be opened or read. `name` is relative to
/// `directory`, as for openat(2). The last component of `name` must not be a symbolic link.
std::optional<std::string> readFile(int directory, const char* name, std::size_t maxBytes = 1 << 20);

} // namespace pinfold
