// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/context.hpp"
#include "core/describer.hpp"
#include "core/job.hpp"
#include "core/killer.hpp"
#include "core/leftover_log.hpp"
#include "core/owners_turns.hpp"

#include <cstdint>
#include <optional>

namespace pinfold {

/// What the parts of the daemon's logic share.
struct Core {
    explicit Core(CoreContext& coreContext);

    CoreContext& context;
    Describer describer;
    Killer killer;
    LeftoverLog leftoverLog;
    OwnersTurns owners;
    OutputWriters outputs; ///< of all jobs
    Registry registry;
    JobObserver* observer;                      ///< never null
    std::optional<std::uint64_t> shutdownSince; ///< CLOCK_BOOTTIME, microseconds: the node is being shut down

    /// Stores the job's record. A failure is logged: the job itself must not suffer from a full /run. Nothing is stored for a job
    /// that is over: its key may be another job's by now.
    void save(const Job& job);
    /// The job's next state, stored. One that the transition table doesn't have is a bug: logged, and not entered.
    bool enter(Job& job, JobState next);
    /// The same, not stored.
    bool advance(Job& job, JobState next);
    /// The job, or NoSuchJob.
    Result<JobPtr> find(const std::string& key) const;
};

} // namespace pinfold
