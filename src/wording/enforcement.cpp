// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wording/enforcement.hpp"

#include "base/word_list.hpp"

#include <algorithm>

namespace pinfold {
namespace {

constexpr const char* kMark = " (not enforced)";

} // namespace

std::string enforcementMark(const std::vector<std::string>& notEnforced, std::string_view limit) {
    return std::find(notEnforced.begin(), notEnforced.end(), limit) == notEnforced.end() ? "" : kMark;
}

std::string notEnforcedInWords(const std::vector<std::string>& notEnforced) {
    return notEnforced.empty() ? "" : joined(notEnforced, ", ") + kMark;
}

} // namespace pinfold
