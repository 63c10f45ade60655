// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/stray_kind.hpp"

#include <algorithm>
#include <array>

namespace pinfold {
namespace {

constexpr std::array<std::string_view, 12> kNames{"session",      "user-manager", "linger", "cron",       "at",     "service",
                                                  "batch-system", "container",    "moved",  "supervisor", "orphan", "other"};
static_assert(kNames.size() == static_cast<std::size_t>(StrayKind::Other) + 1, "one name for each kind");

} // namespace

std::string_view toString(StrayKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

std::optional<StrayKind> strayKindFromString(std::string_view text) {
    const auto* const found = std::find(kNames.begin(), kNames.end(), text);
    return found == kNames.end() ? std::nullopt : std::optional(static_cast<StrayKind>(found - kNames.begin()));
}

std::vector<std::string> strayKindNames() { return {kNames.begin(), kNames.end()}; }

} // namespace pinfold
