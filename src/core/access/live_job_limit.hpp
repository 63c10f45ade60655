// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "core/core.hpp"

#include <sys/types.h>

namespace pinfold {

/// Success: the owner may have one more live job. The jobs of a user and of the user's subordinate ids count together. Error:
/// Busy, because they are as many as jobs.max_per_user.
Result<void> checkLiveJobs(const Core& core, uid_t owner);

} // namespace pinfold
