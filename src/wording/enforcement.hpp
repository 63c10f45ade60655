// SPDX-License-Identifier: LGPL-2.1-or-later
// Words about limits that are set, but that the kernel does not enforce.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// " (not enforced)" for a limit that is one of `notEnforced`, else nothing.
std::string enforcementMark(const std::vector<std::string>& notEnforced, std::string_view limit);

/// "tasks_max, io_weight (not enforced)"; nothing if all limits are enforced.
std::string notEnforcedInWords(const std::vector<std::string>& notEnforced);

} // namespace pinfold
