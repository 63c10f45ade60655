// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Returns the words with the separator between them.
std::string joined(const std::vector<std::string>& words, std::string_view separator);

/// Returns a text such as "report, warn or kill". enumerated() puts `conjunction` before the last of `words`.
std::string enumerated(const std::vector<std::string>& words, std::string_view conjunction = "or");

} // namespace pinfold
