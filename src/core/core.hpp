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

/// Holds the data and objects that the parts of the daemon's logic share.
struct Core {
    explicit Core(CoreContext& coreContext);

    CoreContext& context;
    Describer describer;
    Killer killer;
    LeftoverLog leftoverLog;
    OwnersTurns owners;
    OutputWriters outputs; ///< all jobs share these
    Registry registry;
    JobObserver* observer;                      ///< never null
    std::optional<std::uint64_t> shutdownSince; ///< since when the node has been shutting down (CLOCK_BOOTTIME, microseconds)

    /// Stores the job's record, and returns whether it did. save() logs a failure, because the job itself must not suffer from a
    /// full /run. save() stores nothing for a job that is over, because the job's key may belong to another job by now.
    bool save(const Job& job);
    /// Moves the job to the state `next`, and stores the record. A transition that is not in the transition table is a bug:
    /// enter() logs it and does not make it.
    bool enter(Job& job, JobState next);
    /// Does what enter() does, but does not store the record.
    bool advance(Job& job, JobState next);
    /// Returns the live job with this key. Error: NoSuchJob.
    Result<JobPtr> find(const std::string& key) const;
};

} // namespace pinfold
