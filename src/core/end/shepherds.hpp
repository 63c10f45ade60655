// SPDX-License-Identifier: LGPL-2.1-or-later
// Sends signals to all processes of a job except its shepherds. Shepherds are the batch system's own processes inside a job. A
// shepherd must see the end of its job, so pinfoldd must not kill the shepherd before the job has ended.
#pragma once

#include "core/core.hpp"

namespace pinfold {

bool shepherdLives(const Job& job);

/// Sends the signal to all of the job's processes except its shepherds. If a process of the job forks during the call, the new
/// process possibly does not get the signal. The error is Internal if some processes did not get the signal.
Result<void> signalAllButShepherds(const CoreContext& context, const Job& job, int signal);

} // namespace pinfold
