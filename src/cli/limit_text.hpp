// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes texts that tell people about limits.
#pragma once

#include "cli/table.hpp"
#include "model/limit_table.hpp"
#include "model/resource_limits.hpp"
#include "wording/amounts.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// Returns the value of one limit as people read it, or "-" if the limit is not set.
std::string limitValue(const ResourceLimits& limits, const LimitRow& row, const Amounts& amounts);

/// Says which limits of a job the kernel does not enforce, and which limit systemd adds.
struct Enforcement {
    std::vector<std::string> notEnforced = {}; ///< the names of the limits that the kernel does not enforce
    /// If the job has no limit tasks_max, systemd itself limits the processes and threads of each task to systemdTasksMax.
    std::optional<std::uint64_t> systemdTasksMax = {};
};

/// Returns a table of all limits.
std::string limitsTable(const ResourceLimits& limits, const Enforcement& enforcement, const Amounts& amounts,
                        const TableStyle& style);

/// For each limit that is set in `change`, returns a line with the old value and the new value of the limit.
std::string changeLines(const ResourceLimits& change, const ResourceLimits& before, const ResourceLimits& after,
                        const Amounts& amounts);

/// If a limit in `change` has no effect, enforcementWarnings() returns a line about the limit. If systemd on this node is too old
/// for a limit, pinfoldd leaves out the limit, so `after` does not contain the limit.
std::string enforcementWarnings(const ResourceLimits& change, const ResourceLimits& after,
                                const std::vector<std::string>& notEnforced);

} // namespace pinfold
