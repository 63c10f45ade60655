// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wording/name_list.hpp"

#include <algorithm>
#include <cstddef>

namespace pinfold {
namespace {

constexpr std::size_t kMostNames = 5;

} // namespace

std::string nameList(const std::vector<std::string>& names, std::uint64_t count) {
    std::string text;
    const auto shown = std::min(names.size(), kMostNames);
    for (std::size_t i = 0; i < shown; ++i)
        text += (i == 0 ? "" : ", ") + names[i];
    return text + (count > shown ? " and " + std::to_string(count - shown) + " more" : "");
}

} // namespace pinfold
