// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes texts about limits that pinfold has set and the kernel does not enforce.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Returns " (not enforced)" if `limit` is in the list `notEnforced`, and otherwise an empty text.
std::string enforcementMark(const std::vector<std::string>& notEnforced, std::string_view limit);

/// Returns a text such as "tasks_max, io_weight (not enforced)", or an empty text if the kernel enforces all limits.
std::string notEnforcedInWords(const std::vector<std::string>& notEnforced);

} // namespace pinfold
