// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace pinfold {

/// A small file's bytes, at most `maxBytes` of them; nullopt when it can't be opened or read. `name` is taken relative to
/// `directory` as openat(2) does; the last component is no symbolic link.
std::optional<std::string> readFile(int directory, const char* name, std::size_t maxBytes = 1 << 20);

} // namespace pinfold
