// SPDX-License-Identifier: LGPL-2.1-or-later
// Sends signals to a job without its shepherds, which are the batch system's own processes inside a job. pinfoldd must not kill
// a shepherd before the shepherd has seen the end of its job.
#pragma once

#include "core/core.hpp"

namespace pinfold {

bool shepherdLives(const Job& job);

/// Sends the signal to all of the job's processes except its shepherds. If a process of the job forks during the call, the new
/// process may not get the signal. Error: Internal if some processes did not get the signal.
Result<void> signalAllButShepherds(const CoreContext& context, const Job& job, int signal);

} // namespace pinfold
