// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "core/core.hpp"

#include <sys/types.h>

namespace pinfold {

/// Succeeds if the owner is allowed to have one more live job. The jobs of a user and the jobs of the user's subordinate ids
/// count towards the same limit. The error is Busy if the user has jobs.max_per_user live jobs already.
Result<void> checkLiveJobs(const Core& core, uid_t owner);

} // namespace pinfold
