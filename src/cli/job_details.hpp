// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "bus_client/manager_client.hpp"
#include "cli/json.hpp"

#include <vector>

namespace pinfold {

/// Returns true if pinfoldd runs on this host and a live job has the key.
bool isLiveHere(const std::string& key);

/// Asks pinfoldd for all data about a live job that the caller is allowed to see. askDetail() can return every error that
/// ManagerClient can return.
Result<JobDetail> askDetail(const ManagerClient& client, const std::string& key);

/// Says which data about a live job a command needs. pinfold makes one call for each part and job, and pinfoldd limits the number
/// of calls of each user.
struct DetailParts {
    bool holding = false;  ///< JobDetail::limits, limitsNotEnforced, allocation and slots
    bool usage = false;    ///< JobDetail::usage
    bool identity = false; ///< JobDetail::identity

    [[nodiscard]] bool any() const { return holding || usage || identity; }
};

constexpr DetailParts kAllParts{.holding = true, .usage = true, .identity = true};

/// Asks pinfoldd for the data in `parts` about each job. If pinfoldd is still creating a job, askDetails() sets only the member
/// `job` in the JobDetail. If pinfoldd refuses to tell the limits of a job, askDetails() sets only the member `job` in the
/// JobDetail. A job that has ended since the call of listJobs() is not in the result. Errors: Unreachable, TimedOut and Busy.
Result<std::vector<JobDetail>> askDetails(const ManagerClient& client, const std::vector<JobInfo>& jobs,
                                          const DetailParts& parts);

} // namespace pinfold
