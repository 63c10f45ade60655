// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "adapters/grid_engine/spool_directory.hpp"
#include "adapters/grid_engine/translate.hpp"

namespace pinfold {

/// Freezes the job, where sge_shepherd would send SIGSTOP to its process group, which misses processes that have left the group.
/// sge_execd's signals to a shepherd (execd_signal_queue.c): SIGTTIN means the number in the file "signal", SIGTSTP means
/// SIGKILL, SIGUSR2 SIGXCPU.
class Suspension {
public:
    Suspension(const GridEngineJob& job, const SpoolDirectory& spool) : job_(job), spool_(spool) {}

    /// True: pass the signal on to the shepherd. This takes as long as pinfoldd takes, at most two seconds.
    bool passOn(int signal);

private:
    bool meansStop(int signal) const;

    const GridEngineJob& job_;
    const SpoolDirectory& spool_;
    bool frozen_ = false;
};

} // namespace pinfold
