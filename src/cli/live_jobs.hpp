// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "bus_client/manager_client.hpp"
#include "strays/job_knowledge.hpp"

#include <cstdint>
#include <vector>

namespace pinfold {

/// Asks pinfoldd for the live jobs, and waits at most ten seconds. If pinfoldd does not answer, `pinfold strays` does nothing,
/// and tries again at the next run of its timer.
inline Result<std::vector<LiveJob>> askLiveJobs(const ManagerClient& client) {
    constexpr Microseconds answerTime = 10s;
    const auto listed = client.listJobs(answerTime);
    if (!listed)
        return listed.error();
    std::vector<LiveJob> jobs;
    for (const auto& job : *listed)
        jobs.push_back({job.key, job.uid, job.slice});
    return jobs;
}

} // namespace pinfold
