// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pinfold {

/// Breaks the text into lines of at most `width` columns, and begins each new line with `indent` blanks. If `width` is 0, the
/// result has no line breaks. The first line begins without blanks, because the caller prints the first line in column `indent`.
/// A word that is longer than a line stays whole.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

} // namespace pinfold
