// SPDX-License-Identifier: LGPL-2.1-or-later
#include "options/words.hpp"

#include "base/word_list.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace pinfold {
namespace {

/// Returns the Levenshtein distance between two words.
std::size_t distance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0U);
    for (std::size_t i = 0; i < a.size(); ++i) {
        auto diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const auto replace = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replace, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

} // namespace

std::string suggestion(const std::string& typed, const std::vector<std::string>& known) {
    const auto nearest = std::min_element(known.begin(), known.end(),
                                          [&](const auto& a, const auto& b) { return distance(typed, a) < distance(typed, b); });
    if (nearest == known.end() || distance(typed, *nearest) > 2)
        return "";
    return ", did you mean '" + *nearest + "'?";
}

std::string correction(const std::string& typed, const std::vector<std::string>& known) {
    const auto similar = suggestion(typed, known);
    return (similar.empty() ? ": use " : similar + " Use ") + enumerated(known);
}

} // namespace pinfold
