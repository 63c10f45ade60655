// SPDX-License-Identifier: LGPL-2.1-or-later
// A live job: its record, and what watches it.
#pragma once

#include "core/job_manager.hpp"
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

/// Microseconds that SIGTERM, never SIGKILL, waits for the description of leftovers: on a busy machine what gets it at once is
/// gone before its command line is read. A description that hangs delays it by so much and no more.
inline constexpr std::uint64_t kDescriptionWait = 300'000;

struct Task {
    UniqueFd leader; ///< pidfd; none for adopted processes
    EventHandle leaderWatch;
    UniqueFd supervisor; ///< pidfd; tasks from 1 only, task 0's is the job's
    EventHandle supervisorWatch;
    std::vector<Newcomer> newcomers;      ///< who is to be in its scope, until systemd is asked for it
    bool starting = false;                ///< systemd has been asked for its scope
    EventHandle startTimer;               ///< the next question to systemd about a start that an earlier pinfoldd asked for
    std::vector<Reply<TaskAdded>> adders; ///< who waits for that
    std::vector<Reply<void>> waiters;     ///< for its end
    EventHandle scopeWatch;               ///< cgroup.events of the scope; tasks from 1 only, task 0 is watched by the slice
    EventHandle graceTimer;
    EventHandle killTimer; ///< as in Job
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
    EventHandle graceTimer;
    EventHandle killTimer;               ///< Killer's
    std::optional<std::uint64_t> killAt; ///< CLOCK_BOOTTIME, microseconds: when SIGKILL follows; it only ever comes nearer
    EventHandle memoryWatch;             ///< memory.events of the slice
    EventHandle oomTimer;                ///< bounds the wait for the kernel's word on the victim
    std::optional<OomReport> oomReport;
    JobOutput output; ///< the job's standard error, until a restart of pinfoldd
    std::optional<PeakSplit> peakSplit;
    EventHandle leaderTimer;     ///< bounds the wait for the end of a leader that has left the job's cgroups
    EventHandle lingerTimer;     ///< without batch script and empty: until it ends by itself
    EventHandle freezeTimer;     ///< bounds the wait until all but the shepherds can be killed
    bool culled = false;         ///< all but the shepherds have been killed
    EventHandle reportTimer;     ///< bounds the wait for EndJob's word on how the leader ended
    bool reportOver = false;     ///< it has come, or that wait is over
    bool endMissed = false;      ///< its leader ended while pinfoldd was away: who wanted to report that may have given up
    bool leftToPid1 = false;     ///< the node is being shut down: PID 1 signals its processes, and kills them later
    std::uint64_t endBegan = 0;  ///< CLOCK_BOOTTIME, microseconds; 0: not begun, or by an earlier pinfoldd
    bool ownersTurn = false;     ///< what its owner wants to do to its processes is under way
    bool ownerSuspends = false;  ///< it was its owner who asked for the suspension
    bool changingLimits = false; ///< a change is on its way through systemd
    EventHandle idleSave;        ///< stores the record when the loop is idle
    bool accountDue = false;     ///< handed to the accountant
    std::size_t describing = 0;  ///< reports on leftovers that are under way: the receipt waits for them
    std::vector<std::function<void()>> onDescribed; ///< called when there are none any more
    bool terminationDue = false;                    ///< SIGTERM waits for them, for a moment
    std::vector<Reply<JobSummary>> creators;
    std::vector<Reply<Receipt>> waiters;

    const JobKey& key() const { return record.key; }
    bool isLive() const { return record.state == JobState::Creating || record.state == JobState::Running; }
    /// It was opened, and nothing but EndJob, a stop or its linger time ends it.
    bool lacksBatchScript() const { return record.linger && !record.tasks.contains(0); }
    /// systemd has been asked for a scope of this task, and the outcome is not known. Until then a scope that is empty, or is not
    /// there, says nothing.
    bool isStarting(std::uint32_t number) const;
    bool isStartingTasks() const;
    /// Live ones besides the batch script.
    std::size_t furtherTasks() const { return record.tasks.size() - record.tasks.count(0); }
};

using JobPtr = std::shared_ptr<Job>;
using WeakJob = std::weak_ptr<Job>; ///< what callbacks hold: the job may be over when they come

/// "/batch.slice/batch-<E>.slice"
std::string slicePath(const JobKey& key);
/// "/batch.slice/batch-<E>.slice/job-<E>….scope"
std::string scopePath(const JobKey& key, std::uint32_t task);
/// The job and task that a cgroup path as of /proc/PID/cgroup lies in: slicePath(), scopePath() or what is below them.
std::optional<UnitIdentity> identifyPath(std::string_view path);

JobSummary summarize(const Job& job);

Phase phaseOf(const Job& job);

/// What decide() has to know of the job of this key, which may be null.
Target targetOf(const std::string& key, const Job* job);

/// True too for a job without batch script.
bool leaderEnded(const Job& job);

/// What the job's slice counts now; keeps what the peak is made of, if this is it.
Usage lookAtUsage(Job& job);

/// The live jobs by key. A key is one job's until that very job is removed.
class Registry {
public:
    JobPtr find(std::string_view key) const;
    JobPtr findByLeader(const ProcessIdentity& leader) const;
    /// False: another job has this key, and keeps it.
    [[nodiscard]] bool add(JobPtr job);
    /// Does nothing for a job that is not, or no longer, in here.
    void remove(const Job& job);
    /// This very job, and not another of its key.
    bool has(const Job& job) const;
    const std::map<std::string, JobPtr, std::less<>>& all() const { return jobs_; }
    /// Jobs of all users that count as this one.
    std::size_t countOf(uid_t user, const std::function<uid_t(uid_t)>& countsAs) const;
    /// Job::furtherTasks() of all of these.
    std::size_t furtherTasksOf(uid_t user, const std::function<uid_t(uid_t)>& countsAs) const;

private:
    std::map<std::string, JobPtr, std::less<>> jobs_;
};

} // namespace pinfold
