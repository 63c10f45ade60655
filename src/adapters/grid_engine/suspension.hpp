// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "adapters/grid_engine/spool_directory.hpp"
#include "adapters/grid_engine/translate.hpp"

namespace pinfold {

/// Freezes the job when sge_shepherd would send SIGSTOP to the job's process group. (SIGSTOP does not reach processes that have
/// left the process group.) sge_execd sends some signals to a shepherd as other signals (execd_signal_queue.c): SIGTTIN stands
/// for the signal in the file "signal", SIGTSTP for SIGKILL, and SIGUSR2 for SIGXCPU.
class Suspension {
public:
    Suspension(const GridEngineJob& job, const SpoolDirectory& spool) : job_(job), spool_(spool) {}

    /// Handles a signal from sge_execd. Returns true if the caller has to pass the signal on to the shepherd. The call waits
    /// for pinfoldd's answer, but for at most two seconds.
    bool passOn(int signal);

private:
    bool meansStop(int signal) const;

    const GridEngineJob& job_;
    const SpoolDirectory& spool_;
    bool frozen_ = false;
};

} // namespace pinfold
