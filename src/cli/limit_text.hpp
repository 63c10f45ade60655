// SPDX-License-Identifier: LGPL-2.1-or-later
// Limits for people.
#pragma once

#include "cli/table.hpp"
#include "model/resource_limits.hpp"
#include "wording/amounts.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// A table of all limits. `notEnforced`: the names of the limits that the kernel does not enforce.
std::string limitsTable(const ResourceLimits& limits, const std::vector<std::string>& notEnforced, const Amounts& amounts,
                        const TableStyle& style);

/// "tasks_max: 100 -> 50", a line for each limit that is set in `change`.
std::string changeLines(const ResourceLimits& change, const ResourceLimits& before, const ResourceLimits& after,
                        const Amounts& amounts);

/// A line for each limit of `change` that has no effect. A limit that is not in `after` was left out, because this node's systemd
/// is too old for it.
std::string enforcementWarnings(const ResourceLimits& change, const ResourceLimits& after,
                                const std::vector<std::string>& notEnforced);

} // namespace pinfold
