// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <string>

namespace pinfold {

/// Returns the text with a line break and `indent` blanks wherever the next word would not fit into `width`. If `width` is 0,
/// there are no line breaks. The first line begins in column `indent`. A word that is longer than a line stays whole.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent = 0);

} // namespace pinfold
