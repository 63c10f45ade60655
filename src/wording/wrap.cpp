// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wording/wrap.hpp"

#include <algorithm>

namespace pinfold {

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
    if (width == 0)
        return std::string(text);
    std::string out;
    auto used = indent;
    for (std::size_t start = 0; start < text.size();) {
        const auto end = std::min(text.find(' ', start), text.size());
        const auto length = end - start;
        const bool fits = used + 1 + length <= width;
        if (start > 0) {
            out += fits ? " " : "\n" + std::string(indent, ' ');
            used = fits ? used + 1 : indent;
        }
        out += text.substr(start, length);
        used += length;
        start = end + 1;
    }
    return out;
}

} // namespace pinfold
