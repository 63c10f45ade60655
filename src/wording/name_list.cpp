// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wording/name_list.hpp"

#include "base/word_list.hpp"

#include <algorithm>
#include <cstddef>

namespace pinfold {
namespace {

constexpr std::size_t kMostNames = 5;

} // namespace

std::string nameList(const std::vector<std::string>& names, std::uint64_t count) {
    const auto shown = std::min(names.size(), kMostNames);
    return joined({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown)}, ", ") +
           (count > shown ? " and " + std::to_string(count - shown) + " more" : "");
}

} // namespace pinfold
