// SPDX-License-Identifier: LGPL-2.1-or-later
// Spares the shepherds, the batch system's own processes inside a job. The end of the job must not end a shepherd before the
// shepherd has seen the end of the job.
#pragma once

#include "core/core.hpp"

namespace pinfold {

bool shepherdLives(const Job& job);

/// Sends the signal to all of the job's processes except its shepherds. A process that is forked meanwhile may not get the
/// signal. Error: Internal if some processes did not get the signal.
Result<void> signalAllButShepherds(const CoreContext& context, const Job& job, int signal);

} // namespace pinfold
