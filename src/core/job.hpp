// SPDX-License-Identifier: LGPL-2.1-or-later
// A live job: its record, and what watches it.
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

/// SIGTERM (never SIGKILL) waits at most these microseconds for the description of leftovers. On a busy machine a process that
/// gets SIGTERM at once is gone before its command line is read. A description that hangs delays SIGTERM by no more than this.
inline constexpr std::uint64_t kDescriptionWait = 300'000;

struct Task {
    UniqueFd leader; ///< pidfd; none for adopted processes
    EventHandle leaderWatch;
    UniqueFd supervisor; ///< pidfd; tasks from 1 only, task 0 has Job::supervisor
    EventHandle supervisorWatch;
    std::vector<Newcomer> newcomers;      ///< processes that are to be in its scope; empty once systemd is asked for it
    bool starting = false;                ///< systemd has been asked for its scope
    EventHandle startTimer;               ///< the next question to systemd about a start that an earlier pinfoldd asked for
    std::vector<Reply<TaskAdded>> adders; ///< replies that wait for the start
    std::vector<Reply<void>> waiters;     ///< replies that wait for the end of the task
    EventHandle scopeWatch;               ///< cgroup.events of the scope; tasks from 1 only, task 0 is watched by the slice
    EventHandle describeTimer;            ///< this and the next two: as in Job
    EventHandle graceTimer;
    EventHandle killTimer;
    bool ending = false;
    bool terminationDue = false; ///< as in Job
};

/// What the memory peak was made of, seen while it was reached.
struct PeakSplit {
    std::uint64_t peak = 0; ///< bytes
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
    UniqueFd supervisor; ///< pidfd
    EventHandle supervisorWatch;
    EventHandle runTimer;
    EventHandle describeTimer;           ///< bounds the wait of SIGTERM for the reports on leftovers
    EventHandle graceTimer;              ///< SIGKILL follows when this time is over
    EventHandle killTimer;               ///< Killer's
    EventHandle unkillableTimer;         ///< UnkillablePolicy's: the next step for processes that outlive SIGKILL
    EventHandle removalTimer;            ///< JobCloser's: the next try to remove the slice
    std::optional<std::uint64_t> killAt; ///< CLOCK_BOOTTIME, microseconds: when SIGKILL follows; never moved to a later time
    EventHandle memoryWatch;             ///< memory.events of the slice
    EventHandle oomTimer;                ///< bounds the wait for the kernel's log line about the victim
    std::optional<OomReport> oomReport;
    JobOutput output; ///< the job's standard error; a restart of pinfoldd loses it
    std::optional<PeakSplit> peakSplit;
    EventHandle leaderTimer;     ///< bounds the wait for the end of a leader that has left the job's cgroups
    EventHandle lingerTimer;     ///< runs while the job is empty and has no batch script; then the job ends
    EventHandle freezeTimer;     ///< bounds the wait for the freeze, after which all but the shepherds are killed
    bool culled = false;         ///< all but the shepherds have been killed
    EventHandle reportTimer;     ///< bounds the wait for EndJob's report on how the leader ended
    bool reportOver = false;     ///< the report has come, or the wait for it is over
    bool endMissed = false;      ///< the leader ended while pinfoldd was away: the reporter may have given up
    bool leftToPid1 = false;     ///< the node is being shut down: PID 1 signals the job's processes, and kills them later
    std::uint64_t endBegan = 0;  ///< CLOCK_BOOTTIME, microseconds; 0: not begun, or begun by an earlier pinfoldd
    bool ownersTurn = false;     ///< a signal or suspension by the owner is under way
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
    /// The job was opened and has no batch script. Only EndJob, a stop or its linger time ends it.
    bool lacksBatchScript() const { return record.linger && !record.tasks.contains(0); }
    /// systemd has been asked for a scope of this task, and the outcome is not known. Until then an empty or missing scope says
    /// nothing.
    bool isStarting(std::uint32_t number) const;
    bool isStartingTasks() const;
    /// The number of live tasks besides the batch script.
    std::size_t furtherTasks() const { return record.tasks.size() - record.tasks.count(0); }
};

using JobPtr = std::shared_ptr<Job>;
using WeakJob = std::weak_ptr<Job>; ///< callbacks hold this, because the job may be over when they come

/// "/batch.slice/batch-<E>.slice"
std::string slicePath(const JobKey& key);
/// "/batch.slice/batch-<E>.slice/job-<E>….scope"
std::string scopePath(const JobKey& key, std::uint32_t task);
/// The job and task in which a cgroup path of /proc/PID/cgroup lies: slicePath(), scopePath() or what is below them.
std::optional<UnitIdentity> identifyPath(std::string_view path);

JobSummary summarize(const Job& job);

Phase phaseOf(const Job& job);

/// What decide() has to know about the job of this key. `job` may be null.
Target targetOf(const std::string& key, const Job* job);

/// Also true for a job without a batch script.
bool leaderEnded(const Job& job);

/// What the job's slice counts now. If memory use is at its peak, this keeps what the peak is made of.
Usage lookAtUsage(Job& job);

/// The live jobs by key. A key belongs to one job until that job is removed.
class Registry {
public:
    JobPtr find(std::string_view key) const;
    JobPtr findByLeader(const ProcessIdentity& leader) const;
    /// False: another job has this key, and keeps it.
    [[nodiscard]] bool add(JobPtr job);
    /// Does nothing if this job is not, or no longer, in the registry.
    void remove(const Job& job);
    /// True: the registry has this very job, and not another job of its key.
    bool has(const Job& job) const;
    const std::map<std::string, JobPtr, std::less<>>& all() const { return jobs_; }
    /// The number of jobs of all users that count as this one.
    std::size_t countOf(uid_t user, const std::function<uid_t(uid_t)>& countsAs) const;
    /// The sum of Job::furtherTasks() over the jobs of all users that count as this one.
    std::size_t furtherTasksOf(uid_t user, const std::function<uid_t(uid_t)>& countsAs) const;

private:
    std::map<std::string, JobPtr, std::less<>> jobs_;
};

} // namespace pinfold
