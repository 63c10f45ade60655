// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/json.hpp"
#include "cli/verbs.hpp"

namespace pinfold {

/// A live job with all that the caller may see of it. Errors: as ManagerClient.
Result<JobDetail> askDetail(const ManagerClient& client, const std::string& key);

std::string processTable(const std::vector<ProcessEntry>& processes, const VerbContext& context);

} // namespace pinfold
