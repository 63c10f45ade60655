// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/word_list.hpp"

#include <cstddef>

namespace pinfold {

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i)
        text.append(i == 0 ? "" : separator).append(words[i]);
    return text;
}

std::string enumerated(const std::vector<std::string>& words, std::string_view conjunction) {
    if (words.size() < 2)
        return joined(words, "");
    return joined({words.begin(), words.end() - 1}, ", ").append(" ").append(conjunction).append(" ").append(words.back());
}

} // namespace pinfold
