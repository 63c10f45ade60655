// SPDX-License-Identifier: LGPL-2.1-or-later
// Running processes that are to become part of a job.
#pragma once

#include "base/result.hpp"
#include "base/unique_fd.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// Of process ids as typed. `owner`, a name or an id: an error if one of them is another user's, which a number that the caller
/// has looked at may be by now.
Result<std::vector<UniqueFd>> openProcesses(const std::vector<std::string>& pids, const std::optional<std::string>& owner);

/// Without those that have ended and those that are in this slice.
std::vector<UniqueFd> outsideOf(const std::string& slice, std::vector<UniqueFd> processes);

} // namespace pinfold
