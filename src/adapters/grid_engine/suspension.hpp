// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "adapters/grid_engine/spool_directory.hpp"
#include "adapters/grid_engine/translate.hpp"

namespace pinfold {

/// Freezes the job when sge_shepherd would send SIGSTOP to the job's process group. (SIGSTOP misses processes that have left the
/// group.) sge_execd sends these signals to a shepherd (execd_signal_queue.c): SIGTTIN stands for the signal whose number is in
/// the file "signal", SIGTSTP for SIGKILL, and SIGUSR2 for SIGXCPU.
class Suspension {
public:
    Suspension(const GridEngineJob& job, const SpoolDirectory& spool) : job_(job), spool_(spool) {}

    /// Handles a signal from sge_execd. Returns true if the caller shall pass the signal on to the shepherd. The call takes as
    /// long as pinfoldd takes, but at most two seconds.
    bool passOn(int signal);

private:
    bool meansStop(int signal) const;

    const GridEngineJob& job_;
    const SpoolDirectory& spool_;
    bool frozen_ = false;
};

} // namespace pinfold
