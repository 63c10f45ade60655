// SPDX-License-Identifier: LGPL-2.1-or-later
// Describes a live job: its record, and the watches and timers that observe the job.
#pragma once

#include "base/boxed.hpp"
#include "base/clock.hpp"
#include "core/access/authorizer.hpp"
#include "core/requests.hpp"
#include "core/turns.hpp"
#include "model/job_record.hpp"
#include "model/profile_recorder.hpp"
#include "os/cgroup.hpp"
#include "os/event_loop.hpp"
#include "os/job_output.hpp"
#include "os/kernel_log.hpp"
#include "os/process_mover.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// The maximum time by which pinfoldd delays SIGTERM in order to read the command lines of leftovers. pinfoldd does not delay
/// SIGKILL for this purpose. After an immediate SIGTERM, a process could end before pinfoldd has read the command line. The delay
/// is limited because reading a command line can hang.
inline constexpr Microseconds kDescriptionWait = 300ms;

struct Task {
    std::string command; ///< the name of the program that the leader of task 0 runs; for other tasks see JobRecord::taskLog
    UniqueFd leader;     ///< the pidfd of the leader; empty for adopted processes
    EventHandle leaderWatch;
    UniqueFd supervisor; ///< the pidfd of the supervisor; empty for task 0 (see Job::supervisor)
    EventHandle supervisorWatch;
    std::vector<Newcomer> newcomers; ///< the processes that join the scope; empty after the request to systemd
    bool starting = false;           ///< pinfoldd has asked systemd to start the task's scope
    /// When startTimer expires, pinfoldd asks systemd again about a start that an earlier pinfoldd requested.
    EventHandle startTimer;
    std::vector<Reply<TaskAdded>> adders; ///< the replies that wait until the task has started
    std::vector<Reply<void>> waiters;     ///< the replies that wait until the task has ended
    /// scopeWatch watches the file cgroup.events of the scope. For task 0, scopeWatch is unset, because Job::sliceWatch watches
    /// the whole slice.
    EventHandle scopeWatch;
    EventHandle describeTimer; ///< describeTimer, graceTimer and killTimer have the same meaning as in Job
    EventHandle graceTimer;
    EventHandle killTimer;
    bool ending = false;
    bool terminationDue = false; ///< terminationDue has the same meaning as in Job
};

/// Says how much anonymous memory and how much page cache the job had when its memory use was at its peak.
struct PeakSplit {
    std::uint64_t peak = 0; ///< the memory peak in bytes
    std::uint64_t anon = 0;
    std::uint64_t file = 0;
    std::uint64_t shmem = 0; ///< the shared memory, which is a part of `file`
};

/// Holds the figures from Sampler's newest reading of a job.
struct LastLook {
    RealTime at{};
    Usage usage; ///< the figures of CgroupDir::profileUsage()
};

struct Job {
    explicit Job(JobRecord jobRecord) : record(std::move(jobRecord)) {}

    JobRecord record;
    std::map<std::uint32_t, Task> tasks;
    Turns turns;
    std::optional<CgroupDir> slice;
    EventHandle sliceWatch;
    UniqueFd supervisor; ///< the pidfd of the job's supervisor
    EventHandle supervisorWatch;
    EventHandle runTimer;
    EventHandle warningTimer;  ///< when warningTimer expires, LimitWarner warns about the job's run time limit
    EventHandle describeTimer; ///< when describeTimer expires, pinfoldd sends SIGTERM and does not wait for reports on leftovers
    EventHandle graceTimer;    ///< the timer runs until pinfoldd sends SIGKILL
    EventHandle killTimer;     ///< when killTimer expires, ProcessKiller ends the processes that still live
    EventHandle unkillableTimer;    ///< the timer for the next step of UnkillablePolicy
    EventHandle removalTimer;       ///< when the timer expires, JobCloser tries again to remove the slice
    std::optional<BootTime> killAt; ///< the time at which pinfoldd sends SIGKILL; pinfoldd never moves this time to a later time
    EventHandle memoryWatch;        ///< watches the file memory.events of the slice
    EventHandle oomTimer;           ///< this timer ends the wait for the line of the kernel's log that names the killed process
    Boxed<OomReport> oomReport;
    JobOutput output; ///< the job's standard error; unset after a restart of pinfoldd
    std::optional<PeakSplit> peakSplit;
    ProfileRecorder recorder;
    Boxed<LastLook> lastLook; ///< after a start of pinfoldd, unset until Sampler has read the job's figures
    EventHandle leaderTimer;  ///< this timer ends the wait for a leader that lives outside of the job's cgroups
    EventHandle lingerTimer;  ///< ends a job without a batch script when the job has had no processes for the whole linger time
    /// The timer limits how long pinfoldd waits until the slice is frozen. After the freeze, pinfoldd kills all processes
    /// except the shepherds.
    EventHandle freezeTimer;
    bool culled = false;     ///< pinfoldd has killed all processes except the shepherds
    EventHandle reportTimer; ///< this timer ends the wait for the call of EndJob that reports the leader's end
    bool reportOver = false; ///< pinfoldd does not wait for EndJob any more: EndJob was called, or reportTimer has expired
    bool endMissed = false;  ///< the leader ended while pinfoldd did not run; the batch system possibly never reports this end
    bool leftToPid1 = false; ///< the node is being shut down, and PID 1 ends the job's processes
    BootTime runsSince{};    ///< the time at which pinfoldd began to watch the running job
    /// The time at which the end of the job began. `endBegan` is 0 before pinfoldd begins to end the job. After a restart of
    /// pinfoldd, `endBegan` is 0 if the end of the job began before the restart.
    BootTime endBegan{};
    bool ownersTurn = false;    ///< a signal or suspension that the owner requested is in progress
    bool ownerSuspends = false; ///< a suspension that the owner requested is in progress
    /// When the job is suspended, pinfoldd sends all replies in `suspenders`. During a freeze, `suspenders` is not empty.
    std::vector<Reply<void>> suspenders;
    bool resuming = false;       ///< a request to resume the job is in progress
    bool changingLimits = false; ///< systemd is changing the limits of the job
    EventHandle idleSave;        ///< stores the job's record when the event loop is idle
    bool accountDue = false;     ///< JobEnder has handed the job over to JobCloser
    /// The number of unfinished reports on leftovers. pinfoldd writes the job's receipt only when all reports on leftovers are
    /// finished.
    std::size_t describing = 0;
    std::vector<std::function<void()>> onDescribed; ///< functions that are called when `describing` has become 0
    bool terminationDue = false;                    ///< pinfoldd sends SIGTERM after the reports on leftovers
    std::vector<Reply<JobSummary>> creators;
    std::vector<Reply<Receipt>> waiters;

    const JobKey& key() const { return record.key; }
    bool isLive() const { return record.state == JobState::Creating || record.state == JobState::Running; }
    /// Returns true if somebody opened the job, and the job has no batch script. EndJob, a stop request, or the end of the
    /// linger time ends a job without a batch script.
    bool lacksBatchScript() const { return record.linger && !record.tasks.contains(0); }
    /// Returns true if pinfoldd has asked systemd to start the task's scope and does not know the outcome yet. As long as the
    /// outcome of the start is unknown, an empty or missing scope does not mean that the task has ended.
    bool isStarting(std::uint32_t number) const;
    bool isStartingTasks() const;
    /// Returns the number of live tasks of the job, not counting the batch script.
    std::size_t furtherTasks() const { return record.tasks.size() - record.tasks.count(0); }
};

using JobPtr = std::shared_ptr<Job>;
/// A callback holds a WeakJob, because the job can be over before the loop calls the callback.
using WeakJob = std::weak_ptr<Job>;

/// Returns a path such as "/batch.slice/batch-<E>.slice".
std::string slicePath(const JobKey& key);
/// Returns a path such as "/batch.slice/batch-<E>.slice/job-<E>….scope".
std::string scopePath(const JobKey& key, std::uint32_t task);
/// Finds the job and the task to which a cgroup path from /proc/PID/cgroup belongs. The path can name the cgroup of a job's
/// slice, the cgroup of a task's scope, or any cgroup below these two.
std::optional<UnitIdentity> identifyPath(std::string_view path);

JobSummary summarize(const Job& job);

Phase phaseOf(const Job& job);

/// Returns the facts that decide() needs about the job with the key `key`. The argument `job` is null if no job has the key.
Target targetOf(const std::string& key, const Job* job);

/// Returns how much of the run time limit `limit` is left to the job. If `limit` is unset or infinite, runTimeLeft() returns
/// kForever. The time for which a job is suspended does not count as run time.
Microseconds runTimeLeft(const Job& job, std::optional<std::uint64_t> limit, BootTime now);

/// Returns the grace time of a job for which nobody has requested a grace time. `ofSite` is jobs.kill_grace of the configuration.
/// If run_time_grace is set, SIGKILL ends the job at the latest run_time_grace after the end of run_time_max.
Microseconds usualGraceOf(const Job& job, Microseconds ofSite, BootTime now);

/// Returns true if the job's leader has ended, or if the job has no leader because it has no batch script.
bool leaderEnded(const Job& job);

/// Reads the present figures of the job's slice. If the memory use is at its peak, lookAtUsage() stores the amounts of anonymous
/// memory and of page cache in Job::peakSplit. The function lookAtUsage() updates the job's memory need.
Usage lookAtUsage(Job& job);

/// If `usage` lacks a counter, addLastLook() takes the counter's value from Job::lastLook. Counters never fall, so the value in
/// Job::lastLook is at most as high as the value at the job's end.
void addLastLook(Usage& usage, const Job& job);

/// Holds the live jobs by key. The registry never has two jobs with the same key.
class Registry {
public:
    JobPtr find(std::string_view key) const;
    JobPtr findByLeader(const ProcessIdentity& leader) const;
    /// Adds the job. If another job has the same key, add() returns false and changes nothing.
    [[nodiscard]] bool add(JobPtr job);
    /// Removes the job from the registry. If the job is not in the registry, remove() does nothing.
    void remove(const Job& job);
    /// Returns true if the registry contains the object `job`. If the registry contains a different object with the key of
    /// `job`, the result is false.
    bool has(const Job& job) const;
    const std::map<std::string, JobPtr, std::less<>>& all() const { return jobs_; }
    /// Returns the jobs of `user`. The result does not contain the jobs of the user's subordinate ids. The running jobs come
    /// before the other jobs, and both groups are sorted from the newest job to the oldest job.
    std::vector<JobPtr> jobsOf(uid_t user) const;
    /// Returns the number of live jobs of `user` and of the subordinate ids of `user`.
    std::size_t countOf(uid_t user, const std::function<uid_t(uid_t)>& countsAs) const;
    /// Returns the total number of tasks in the live jobs of `user` and of the subordinate ids of `user`. furtherTasksOf() does
    /// not count batch scripts.
    std::size_t furtherTasksOf(uid_t user, const std::function<uid_t(uid_t)>& countsAs) const;

private:
    std::map<std::string, JobPtr, std::less<>> jobs_;
};

} // namespace pinfold
