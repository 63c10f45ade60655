// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "core/context.hpp"
#include "core/control/owners_turns.hpp"
#include "core/end/killer.hpp"
#include "core/job.hpp"
#include "core/job_observer.hpp"
#include "core/report/describer.hpp"
#include "core/report/leftover_log.hpp"
#include "core/report/refusal_log.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace pinfold {

/// For each user, the maximum number of unfinished requests to signal or suspend the user's own jobs.
constexpr std::size_t kMostOfOwner = 128;
/// SystemdManager handles at most 16 requests for the freeze of a unit at the same time. If a process of a job cannot be frozen
/// at once, the request to freeze the job can take 30 s. At most kFreezesOfOwner requests can freeze jobs of one user at the same
/// time, so that other users need not wait.
constexpr std::size_t kFreezesOfOwner = 4;
constexpr auto kUnlimited = std::numeric_limits<std::size_t>::max();

/// Holds the data and objects that the parts of the daemon's logic share.
struct Core {
    explicit Core(CoreContext& coreContext);

    CoreContext& context;
    Describer describer;
    Killer killer;
    LeftoverLog leftoverLog;
    OwnersTurns owners{1, kMostOfOwner};              ///< limits how many requests of each user are in Lane::Owners
    OwnersTurns freezes{kFreezesOfOwner, kUnlimited}; ///< limits how many freezes of each user's jobs are in progress
    RefusalLog refusalLog;
    OutputWriters outputs; ///< the threads that write lines to the outputs of the jobs
    Registry registry;
    JobObserver* observer;                 ///< `observer` is never null; for each event, pinfoldd calls a method of `observer`
    std::optional<BootTime> shutdownSince; ///< the time at which the node began to shut down

    /// Stores the job's record, and returns false if the record was not stored. If save() cannot store the record, for example
    /// because /run is full, save() writes a warning, and the job continues. For a job that is over, save() does nothing, because
    /// the job's key possibly belongs to another job by now.
    bool save(const Job& job);
    /// Stores the job's record when the loop is idle. On a busy node, each stored record costs time. Use saveSoon() if the record
    /// is likely to change again soon.
    void saveSoon(const JobPtr& job);
    /// Stores the records that wait for the loop to be idle. Call saveDue() before pinfoldd exits, because an event loop that has
    /// been told to quit is never idle.
    void saveDue();
    /// Moves the job to the state `next`, and stores the record. If the transition table does not allow the transition,
    /// pinfoldd has a bug. For a transition that is not allowed, enter() only writes to the log and does not change the state.
    bool enter(Job& job, JobState next);
    /// Moves the job to the state `next` in the same way as enter(), but does not store the record.
    bool advance(Job& job, JobState next);
    /// Returns the name of the node for use in messages. If the name cannot be read, nodeName() returns "this node".
    std::string nodeName() const;
    /// Returns the live job with the key `key`. Error: NoSuchJob.
    Result<JobPtr> find(const std::string& key) const;
};

} // namespace pinfold
