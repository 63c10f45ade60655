// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/access/live_job_limit.hpp"

#include <fmt/core.h>

namespace pinfold {

Result<void> checkLiveJobs(const Core& core, uid_t owner) {
    const auto most = core.context.config.jobs.maxPerUser;
    const auto user = core.context.countsAs(owner);
    if (core.registry.countOf(user, core.context.countsAs) < most)
        return {};
    return Error{ErrorCode::Busy, fmt::format("user {} has {} live jobs already, the maximum (jobs.max_per_user){}", user, most,
                                              user == owner ? "" : ", with those of subordinate user ids (/etc/subuid)")};
}

} // namespace pinfold
