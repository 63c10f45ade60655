// SPDX-License-Identifier: LGPL-2.1-or-later
// Describes a live job: its record, and the watches and timers that observe the job.
#pragma once

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

/// SIGTERM (never SIGKILL) waits at most this many microseconds for the description of leftovers. On a busy machine a process
/// that gets SIGTERM at once is gone before anybody has read its command line. If the description hangs, SIGTERM comes after this
/// time.
inline constexpr std::uint64_t kDescriptionWait = 300'000;

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
    EventHandle scopeWatch;               ///< watches cgroup.events of the scope; only tasks from 1 on have it, because the
                                          ///< slice's watch serves task 0
    EventHandle describeTimer;            ///< describeTimer, graceTimer and killTimer mean the same as in Job
    EventHandle graceTimer;
    EventHandle killTimer;
    bool ending = false;
    bool terminationDue = false; ///< means the same as in Job
};

/// Says of what the job's memory consisted at its peak, as pinfoldd saw it at that moment.
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
    EventHandle describeTimer;           ///< limits how long SIGTERM waits for the reports on leftovers
    EventHandle graceTimer;              ///< when this time is over, SIGKILL follows
    EventHandle killTimer;               ///< belongs to Killer
    EventHandle unkillableTimer;         ///< belongs to UnkillablePolicy: the next step for processes that outlive SIGKILL
    EventHandle removalTimer;            ///< belongs to JobCloser: the next try to remove the slice
    std::optional<std::uint64_t> killAt; ///< when SIGKILL follows (CLOCK_BOOTTIME, microseconds); pinfoldd never moves it to a
                                         ///< later time
    EventHandle memoryWatch;             ///< watches memory.events of the slice
    EventHandle oomTimer;                ///< limits the wait for the kernel's log line about the victim
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
    std::uint64_t endBegan = 0;  ///< when the end began (CLOCK_BOOTTIME, microseconds); 0 if it has not begun, or an earlier
                                 ///< pinfoldd began it
    bool ownersTurn = false;     ///< a signal or suspension that the owner asked for is under way
    bool ownerSuspends = false;  ///< the owner asked for the suspension
    bool changingLimits = false; ///< a change is on its way through systemd
    EventHandle idleSave;        ///< stores the record when the loop is idle
    bool accountDue = false;     ///< the job was handed to the closer
    std::size_t describing = 0;  ///< reports on leftovers that are under way: the receipt waits for them
    std::vector<std::function<void()>> onDescribed; ///< called when `describing` is 0 again
    bool terminationDue = false;                    ///< SIGTERM waits for the reports on leftovers, for a moment
    std::vector<Reply<JobSummary>> creators;
    std::vector<Reply<Receipt>> waiters;

    const JobKey& key() const { return record.key; }
    bool isLive() const { return record.state == JobState::Creating || record.state == JobState::Running; }
    /// Returns true if somebody opened the job, and the job has no batch script. Only EndJob, a stop or its linger time ends such
    /// a job.
    bool lacksBatchScript() const { return record.linger && !record.tasks.contains(0); }
    /// Returns true if pinfoldd has asked systemd for a scope of this task, and does not know the outcome yet. Until pinfoldd
    /// knows it, an empty or missing scope says nothing.
    bool isStarting(std::uint32_t number) const;
    bool isStartingTasks() const;
    /// Returns the number of live tasks besides the batch script.
    std::size_t furtherTasks() const { return record.tasks.size() - record.tasks.count(0); }
};

using JobPtr = std::shared_ptr<Job>;
using WeakJob = std::weak_ptr<Job>; ///< callbacks hold a WeakJob, because the job may be over when they are called

/// Returns "/batch.slice/batch-<E>.slice".
std::string slicePath(const JobKey& key);
/// Returns "/batch.slice/batch-<E>.slice/job-<E>….scope".
std::string scopePath(const JobKey& key, std::uint32_t task);
/// Finds the job and the task to which a cgroup path of /proc/PID/cgroup belongs. The path may be a slicePath(), a scopePath(),
/// or a path below one of these.
std::optional<UnitIdentity> identifyPath(std::string_view path);

JobSummary summarize(const Job& job);

Phase phaseOf(const Job& job);

/// Returns what decide() has to know about the job of this key. `job` is null if there is no such job.
Target targetOf(const std::string& key, const Job* job);

/// Returns true if the leader has ended, and also for a job without a batch script.
bool leaderEnded(const Job& job);

/// Reads what the job's slice counts now. If memory use is at its peak, lookAtUsage() also keeps in the job of what the peak
/// consists.
Usage lookAtUsage(Job& job);

/// Holds the live jobs by key. A key belongs to one job until that job is removed.
class Registry {
public:
    JobPtr find(std::string_view key) const;
    JobPtr findByLeader(const ProcessIdentity& leader) const;
    /// Adds the job. Returns false if another job has this key, and then changes nothing.
    [[nodiscard]] bool add(JobPtr job);
    /// Removes the job. Does nothing if this job is not in the registry.
    void remove(const Job& job);
    /// Returns true if the registry has this very job, and not another job with the same key.
    bool has(const Job& job) const;
    const std::map<std::string, JobPtr, std::less<>>& all() const { return jobs_; }
    /// Returns the number of live jobs of all users that count as `user`.
    std::size_t countOf(uid_t user, const std::function<uid_t(uid_t)>& countsAs) const;
    /// Returns the sum of Job::furtherTasks() over the jobs of all users that count as `user`.
    std::size_t furtherTasksOf(uid_t user, const std::function<uid_t(uid_t)>& countsAs) const;

private:
    std::map<std::string, JobPtr, std::less<>> jobs_;
};

} // namespace pinfold
