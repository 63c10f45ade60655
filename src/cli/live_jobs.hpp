// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "bus_client/manager_client.hpp"
#include "strays/job_knowledge.hpp"

#include <cstdint>
#include <vector>

namespace pinfold {

/// Asks pinfoldd for the live jobs, and waits at most ten seconds. If there is no answer, this run of `pinfold strays` does
/// nothing, and the timer's next run tries again.
inline Result<std::vector<LiveJob>> askLiveJobs(const ManagerClient& client) {
    constexpr std::uint64_t answerTime = 10'000'000;
    const auto listed = client.listJobs(answerTime);
    if (!listed)
        return listed.error();
    std::vector<LiveJob> jobs;
    for (const auto& job : *listed)
        jobs.push_back({job.key, job.uid, job.slice});
    return jobs;
}

} // namespace pinfold
