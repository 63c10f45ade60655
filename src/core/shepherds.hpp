// SPDX-License-Identifier: LGPL-2.1-or-later
// The batch system's own processes inside a job: what ends the job must not take them along before they have seen it.
#pragma once

#include "core/core.hpp"

namespace pinfold {

bool shepherdLives(const Job& job);

/// To all of the job's processes but its shepherds. One that is forked meanwhile may miss it. Error: Internal, some did not get
/// it.
Result<void> signalAllButShepherds(const CoreContext& context, const Job& job, int signal);

} // namespace pinfold
