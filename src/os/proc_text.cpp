// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/proc_text.hpp"

#include <algorithm>

namespace pinfold {

std::optional<std::string_view> lineOf(std::string_view text, std::string_view name) {
    for (std::size_t start = 0; start < text.size();) {
        const auto end = std::min(text.find('\n', start), text.size());
        const auto line = text.substr(start, end - start);
        if (line.starts_with(name))
            return line.substr(std::min(line.find_first_not_of(" \t", name.size()), line.size()));
        start = end + 1;
    }
    return std::nullopt;
}

std::vector<std::string_view> fields(std::string_view text) {
    std::vector<std::string_view> found;
    for (std::size_t start = 0; (start = text.find_first_not_of(" \t\n", start)) != std::string_view::npos;) {
        const auto end = std::min(text.find_first_of(" \t\n", start), text.size());
        found.push_back(text.substr(start, end - start));
        start = end;
    }
    return found;
}

} // namespace pinfold
