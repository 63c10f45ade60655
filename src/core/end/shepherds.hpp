// SPDX-License-Identifier: LGPL-2.1-or-later
// The batch system's own processes inside a job: The end of the job must not end them before they have seen it.
#pragma once

#include "core/core.hpp"

namespace pinfold {

bool shepherdLives(const Job& job);

/// Sends the signal to all of the job's processes except its shepherds. A process that is forked meanwhile may not get it. Error:
/// Internal, because some processes did not get it.
Result<void> signalAllButShepherds(const CoreContext& context, const Job& job, int signal);

} // namespace pinfold
