// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/context.hpp"
#include "core/control/owners_turns.hpp"
#include "core/end/killer.hpp"
#include "core/job.hpp"
#include "core/job_observer.hpp"
#include "core/report/describer.hpp"
#include "core/report/leftover_log.hpp"

#include <cstdint>
#include <optional>

namespace pinfold {

/// Data and objects that the parts of the daemon's logic share.
struct Core {
    explicit Core(CoreContext& coreContext);

    CoreContext& context;
    Describer describer;
    Killer killer;
    LeftoverLog leftoverLog;
    OwnersTurns owners;
    OutputWriters outputs; ///< shared by all jobs
    Registry registry;
    JobObserver* observer;                      ///< never null
    std::optional<std::uint64_t> shutdownSince; ///< since when the node is being shut down (CLOCK_BOOTTIME, microseconds)

    /// Stores the job's record. Logs a failure, because the job itself must not suffer from a full /run. Stores nothing for a job
    /// that is over, because its key may belong to another job by now. False: nothing was stored.
    bool save(const Job& job);
    /// Moves the job to its next state, and stores that. A transition that the transition table does not have is a bug: it is
    /// logged and not made.
    bool enter(Job& job, JobState next);
    /// As enter(), but does not store the state.
    bool advance(Job& job, JobState next);
    /// The live job with this key. Error: NoSuchJob.
    Result<JobPtr> find(const std::string& key) const;
};

} // namespace pinfold
