// SPDX-License-Identifier: LGPL-2.1-or-later
// Describes a live job: its record, and the watches and timers that observe the job.
#pragma once

#include "base/clock.hpp"
#include "core/access/authorizer.hpp"
#include "core/requests.hpp"
#include "core/turns.hpp"
#include "model/job_record.hpp"
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

/// The maximum time by which pinfoldd delays SIGTERM (never SIGKILL) to read the command lines of leftovers
/// first. Without the delay, a process on a busy machine could end on SIGTERM before pinfoldd has read its command line. The
/// time is limited because reading a command line may hang.
inline constexpr Microseconds kDescriptionWait = 300ms;

struct Task {
    UniqueFd leader; ///< a pidfd; unset for adopted processes
    EventHandle leaderWatch;
    UniqueFd supervisor; ///< a pidfd; only tasks from 1 on have it, for task 0 see Job::supervisor
    EventHandle supervisorWatch;
    std::vector<Newcomer> newcomers;      ///< processes that are to join the task's scope; empty once pinfoldd has asked systemd
                                          ///< for the scope
    bool starting = false;                ///< pinfoldd has asked systemd for the task's scope
    EventHandle startTimer;               ///< when pinfoldd asks systemd next about a start that an earlier pinfoldd asked for
    std::vector<Reply<TaskAdded>> adders; ///< replies that wait for the start
    std::vector<Reply<void>> waiters;     ///< replies that wait for the end of the task
    EventHandle scopeWatch;               ///< watches cgroup.events of the scope; unset for task 0, see Job::sliceWatch
    EventHandle describeTimer;            ///< describeTimer, graceTimer and killTimer mean the same as in Job
    EventHandle graceTimer;
    EventHandle killTimer;
    bool ending = false;
    bool terminationDue = false; ///< means the same as in Job
};

/// Says how much anonymous memory and how much file memory the job had when its memory use was at its peak.
struct PeakSplit {
    std::uint64_t peak = 0; ///< in bytes
    std::uint64_t anon = 0;
    std::uint64_t file = 0;
};

struct Job {
    explicit Job(JobRecord jobRecord) : record(std::move(jobRecord)) {}

    JobRecord record;
    std::map<std::uint32_t, Task> tasks;
    Turns turns;
    std::optional<CgroupDir> slice;
    EventHandle sliceWatch;
    UniqueFd supervisor; ///< a pidfd
    EventHandle supervisorWatch;
    EventHandle runTimer;
    EventHandle describeTimer;      ///< limits how long SIGTERM waits for the reports on leftovers
    EventHandle graceTimer;         ///< when this time is over, SIGKILL follows
    EventHandle killTimer;          ///< belongs to Killer
    EventHandle unkillableTimer;    ///< belongs to UnkillablePolicy: the next step for processes that outlive SIGKILL
    EventHandle removalTimer;       ///< belongs to JobCloser: the next try to remove the slice
    std::optional<BootTime> killAt; ///< when SIGKILL follows; pinfoldd never moves it to a
                                    ///< later time
    EventHandle memoryWatch;        ///< watches memory.events of the slice
    EventHandle oomTimer;           ///< limits the wait for the kernel's log line about the victim
    std::optional<OomReport> oomReport;
    JobOutput output; ///< the job's standard error; a restart of pinfoldd loses it
    std::optional<PeakSplit> peakSplit;
    EventHandle leaderTimer; ///< limits the wait for the end of a leader that has left the job's cgroups
    EventHandle lingerTimer; ///< runs while the job is empty and has no batch script; when it is over, the job ends
    EventHandle freezeTimer; ///< limits the wait for the freeze of the slice; then pinfoldd kills all processes but the shepherds
    bool culled = false;     ///< pinfoldd has killed all processes but the shepherds
    EventHandle reportTimer; ///< limits the wait for EndJob's report on how the leader ended
    bool reportOver = false; ///< the report of EndJob has come, or the wait for it is over
    bool endMissed = false;  ///< the leader ended while pinfoldd was away, so the batch system may have given up its report
    bool leftToPid1 = false; ///< the node is being shut down: PID 1 signals the job's processes, and kills them later
    BootTime endBegan{};     ///< when the end began; 0 if it has not begun, or an earlier
                             ///< pinfoldd began it
    bool ownersTurn = false; ///< a signal or suspension that the owner asked for is under way
    bool ownerSuspends = false;                     ///< the owner asked for the suspension
    bool changingLimits = false;                    ///< a change is on its way through systemd
    EventHandle idleSave;                           ///< stores the record when the loop is idle
    bool accountDue = false;                        ///< the job was handed to the closer
    std::size_t describing = 0;                     ///< reports on leftovers that are under way: the receipt waits for them
    std::vector<std::function<void()>> onDescribed; ///< called when `describing` is 0 again
    bool terminationDue = false;                    ///< SIGTERM waits for the reports on leftovers, for a moment
    std::vector<Reply<JobSummary>> creators;
    std::vector<Reply<Receipt>> waiters;

    const JobKey& key() const { return record.key; }
    bool isLive() const { return record.state == JobState::Creating || record.state == JobState::Running; }
    /// Returns true if somebody opened the job, and the job has no batch script. A job without a batch script ends by EndJob,
    /// by a stop request, or at the end of its linger time.
    bool lacksBatchScript() const { return record.linger && !record.tasks.contains(0); }
    /// Returns true if pinfoldd has asked systemd for a scope of the task and does not know the outcome yet. As long as the
    /// outcome is unknown, an empty or missing scope does not mean that the task has ended.
    bool isStarting(std::uint32_t number) const;
    bool isStartingTasks() const;
    /// Returns the number of live tasks of the job. The batch script is not counted.
    std::size_t furtherTasks() const { return record.tasks.size() - record.tasks.count(0); }
};

using JobPtr = std::shared_ptr<Job>;
using WeakJob = std::weak_ptr<Job>; ///< callbacks hold a WeakJob, because the job may be over when they are called

/// Returns "/batch.slice/batch-<E>.slice".
std::string slicePath(const JobKey& key);
/// Returns "/batch.slice/batch-<E>.slice/job-<E>….scope".
std::string scopePath(const JobKey& key, std::uint32_t task);
/// Finds the job and the task to which a cgroup path from /proc/PID/cgroup belongs. The path may be the cgroup of a job's
/// slice, of a task's scope, or of anything below the slice or the scope.
std::optional<UnitIdentity> identifyPath(std::string_view path);

JobSummary summarize(const Job& job);

Phase phaseOf(const Job& job);

/// Returns the facts about the job with the key `key` that decide() needs. The argument `job` is null if no job has the key.
Target targetOf(const std::string& key, const Job* job);

/// Returns true if the job's leader has ended, or if the job has no batch script and so no leader.
bool leaderEnded(const Job& job);

/// Reads the present figures of the job's slice. If the memory use is at its peak, lookAtUsage() also stores the amounts of
/// anonymous memory and of file memory in Job::peakSplit.
Usage lookAtUsage(Job& job);

/// Holds the live jobs by key. The registry never has two jobs with the same key.
class Registry {
public:
    JobPtr find(std::string_view key) const;
    JobPtr findByLeader(const ProcessIdentity& leader) const;
    /// Adds the job. If another job has the same key, add() returns false and changes nothing.
    [[nodiscard]] bool add(JobPtr job);
    /// Removes the job from the registry. If the job is not in the registry, remove() does nothing.
    void remove(const Job& job);
    /// Returns true if the registry contains the object `job`. If the registry contains another job with the same key, the
    /// result is false.
    bool has(const Job& job) const;
    const std::map<std::string, JobPtr, std::less<>>& all() const { return jobs_; }
    /// Returns the number of live jobs of `user` and of the subordinate ids of `user`.
    std::size_t countOf(uid_t user, const std::function<uid_t(uid_t)>& countsAs) const;
    /// Returns the total number of tasks in the live jobs of `user` and of the subordinate ids of `user`. Batch scripts are not
    /// counted.
    std::size_t furtherTasksOf(uid_t user, const std::function<uid_t(uid_t)>& countsAs) const;

private:
    std::map<std::string, JobPtr, std::less<>> jobs_;
};

} // namespace pinfold
