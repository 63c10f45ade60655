// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pinfold {

/// Returns a text with at most five of the names, such as "node1, node2 and 7 more". The argument `count` is the number of all
/// names. If some names are not known, `count` is larger than the size of `names`.
std::string nameList(const std::vector<std::string>& names, std::uint64_t count);

} // namespace pinfold
