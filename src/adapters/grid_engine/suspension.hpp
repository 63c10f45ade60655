// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "adapters/grid_engine/spool_directory.hpp"
#include "adapters/grid_engine/translate.hpp"

namespace pinfold {

/// Freezes the job in place of sge_shepherd, which would only send SIGSTOP to the job's process group. (SIGSTOP does not reach
/// processes that have left the process group.) sge_execd sends the shepherd SIGTSTP in place of SIGKILL, and SIGUSR2 in place of
/// SIGXCPU (execd_signal_queue.c). SIGTTIN tells the shepherd to read the signal from the file "signal".
class Suspension {
public:
    Suspension(const GridEngineJob& job, const SpoolDirectory& spool) : job_(job), spool_(spool) {}

    /// Handles a signal from sge_execd. Returns true if the caller has to pass the signal on to the shepherd. A call of passOn()
    /// waits at most two seconds for pinfoldd's answer.
    bool passOn(int signal);

private:
    bool meansStop(int signal) const;

    const GridEngineJob& job_;
    const SpoolDirectory& spool_;
    bool frozen_ = false;
};

} // namespace pinfold
