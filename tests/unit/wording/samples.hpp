// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>

namespace pinfold {

constexpr std::uint64_t kMiB = 1 << 20;

inline std::string nameOf(std::uint32_t uid) { return uid == 0 ? "root" : "alice"; }

} // namespace pinfold
