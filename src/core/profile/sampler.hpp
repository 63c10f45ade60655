// SPDX-License-Identifier: LGPL-2.1-or-later
// Looks at the live jobs at intervals, and records how much of each resource every job uses.
#pragma once

#include "core/core.hpp"
#include "core/history/live_rows.hpp"
#include "core/resources/limit_warner.hpp"
#include "model/idleness.hpp"
#include "store/profile_store.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// Reads the usage figures of a job when the job is 1, 2, 4, 8 and 16 seconds old. Once in each profile.interval, Sampler reads
/// the figures of all jobs. While there are no jobs, Sampler has no timer. To get the figures of a job, Sampler reads five files
/// of the cgroup file system. Sampler reads nothing that could block the loop.
class Sampler {
public:
    Sampler(Core& core, LimitWarner& warner, LiveRows& rows);

    /// From now on, Sampler reads the figures of the running job `job`. If an earlier pinfoldd has stored a profile of the job,
    /// Sampler continues this profile.
    void watch(const JobPtr& job);
    /// Returns the whole profile of a job that has no processes any more. The result has the form that encode(Profile) returns.
    /// If Sampler never read figures of the job, the result is empty. The caller must store the final usage figures in the job's
    /// record before the call of finish().
    std::string finish(Job& job) const;
    /// Removes everything that Sampler has stored about `job`. Call forget() when the job has left the registry.
    void forget(const Job& job);
    /// Counts the idle jobs. idleJobs() looks at the most recent period with the length `idle.since`. IdleJobs::cpus counts the
    /// running jobs that used less than `idle.share` percent of their CPUs in this period. IdleJobs::memory counts the running
    /// jobs that needed less than `idle.memory_share` percent of their memory limit in this period. A job that is younger than
    /// idle.since does not count as idle. For a job with neither slots nor a limit on its CPUs, idleJobs() considers only the
    /// memory. For a job without a memory limit, idleJobs() considers only the CPUs. Returns nullopt if Sampler is switched off.
    std::optional<IdleJobs> idleJobs() const;
    /// If a reload has changed profile.interval, configChanged() switches Sampler on or off.
    void configChanged();

private:
    bool isOn() const;
    void arm();
    void wake();
    void lookAtSome();
    void look(const JobPtr& job);
    void resume(Job& job) const;

    Core& core_;
    LimitWarner& warner_;
    LiveRows& rows_;
    ProfileStore store_;
    std::multimap<BootTime, WeakJob> early_; ///< young jobs, each with the time at which Sampler next reads the job's figures
    BootTime nextRound_{};                   ///< the time at which Sampler reads the figures of all jobs next
    std::vector<WeakJob> due_;               ///< the jobs whose figures Sampler has to read now
    EventHandle timer_;
    BootTime timerAt_{};
    EventHandle idle_;
};

} // namespace pinfold
