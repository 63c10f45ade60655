// SPDX-License-Identifier: LGPL-2.1-or-later
// The use cases of org.pinfold1.Manager, without D-Bus. The bus layer decodes, calls, and encodes.
#pragma once

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "core/authorizer.hpp"
#include "model/allocation.hpp"
#include "model/drain.hpp"
#include "model/job_key.hpp"
#include "model/job_state.hpp"
#include "model/metrics.hpp"
#include "model/receipt.hpp"
#include "model/reconciliation.hpp"
#include "os/descriptor_closer.hpp"
#include "os/history.hpp"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pinfold {

struct CoreContext;

/// Called exactly once, possibly from within the call that it was passed to.
template <class T> using Reply = std::function<void(Result<T>)>;

struct CreateRequest {
    std::string key;     ///< empty: the key is manual.<n>; openJob() needs a key
    UniqueFd leader;     ///< pidfd; openJob(): none
    UniqueFd supervisor; ///< pidfd, or none
    ForeignFd output;    ///< the job's standard error, for the one line about an out-of-memory kill; or none
    std::optional<uid_t> owner;
    ResourceLimits limits;
    AllocationRequest allocation = {};
    std::optional<std::uint64_t> slots = {};  ///< 1 to 8192; Config::Jobs::slots says what follows from it
    bool shepherd = false;                    ///< the leader is the batch system's own process above the job
    std::optional<std::uint64_t> linger = {}; ///< openJob(): microseconds from its last task's end to its own; unset: the site's
    std::optional<std::uint64_t> reportWithin = {}; ///< microseconds, see ReportWait; unset: openJob() 10 s, else 0
};

/// A further task of a job, or the batch script of a job that was opened.
struct TaskRequest {
    std::string key;
    UniqueFd leader;     ///< pidfd
    UniqueFd supervisor; ///< pidfd, or none
    ForeignFd output;    ///< as in CreateRequest; only for a batch script
    bool batch = false;
    bool shepherd = false;
    std::optional<CreateRequest> open = {}; ///< the job to open if no job has this key
};

/// What a supervisor reports when its child has ended.
struct EndReport {
    ExitState exit;
    std::optional<pid_t> leader; ///< the leader that has ended: by then a later job may have the same key
};

struct JobSummary {
    JobKey key;
    JobState state = JobState::Creating;
    uid_t uid = 0;
    pid_t leader = 0;          ///< 0: the job has no batch script
    std::uint64_t created = 0; ///< CLOCK_REALTIME, microseconds
    bool suspended = false;
    ResourceLimits limits = {};
    std::vector<std::string> limitsNotEnforced = {}; ///< names
    std::vector<std::uint32_t> tasks = {};
    Allocation allocation = {};
    std::optional<std::uint64_t> unkillableSince = {}; ///< CLOCK_REALTIME, microseconds: when SIGKILL was sent in vain
    bool unkillableInFuse = false; ///< the job waits for a file server that users run themselves, so no action is taken
};

struct TaskAdded {
    JobKey key;
    std::uint32_t task = 0;
    std::map<std::string, std::string> environment; ///< tells the job's programs about the allocation
};

struct JobProcess {
    pid_t pid = 0;
    std::uint32_t task = 0;
    uid_t uid = 0;
    std::uint64_t started = 0;            ///< CLOCK_REALTIME, microseconds
    std::uint64_t cpu = 0;                ///< microseconds
    std::uint64_t rss = 0;                ///< bytes
    char state = '?';                     ///< as in /proc/PID/stat
    std::optional<std::string> waitPoint; ///< kernel function in which it hangs; only if it has outlived SIGKILL
    std::string command;
};

inline ShownState shownState(const JobSummary& job) { return shownState(job.state, job.suspended); }

/// Learns what happened, for the bus's signals and objects. Called after the record of the event is stored.
class JobObserver {
public:
    virtual ~JobObserver() = default;
    virtual void jobAdded(const JobSummary& job) = 0;
    virtual void jobStateChanged(const JobKey& key) = 0;
    virtual void outOfMemory(const JobKey& key, const OomVerdict& verdict) = 0;
    virtual void limitsChanged(const JobKey& key) = 0;
    virtual void taskAdded(const JobKey& key, std::uint32_t task) = 0;
    virtual void taskRemoved(const JobKey& key, std::uint32_t task) = 0;
    virtual void leftoversFound(const JobKey& key, std::uint32_t task, std::uint64_t count) = 0;
    virtual void unkillable(const JobKey& key, std::uint64_t count) = 0;
    /// By now no query finds the job.
    virtual void jobRemoved(const JobKey& key, const Receipt& receipt) = 0;
    virtual void receiptAmended(const Receipt& receipt) = 0; ///< somebody reported the leader's end after jobRemoved()
    /// The answer of JobManager::draining() has changed.
    virtual void drainChanged() = 0;
};

class JobManager {
public:
    // Users can make lists of any length. The loop needs less than 100 ms for a part of this size.
    static constexpr std::size_t kMostJobsAtOnce = 2000;
    static constexpr std::size_t kMostProcessesAtOnce = 1000;
    static constexpr std::uint32_t kMostReceiptsAtOnce = 250;

    explicit JobManager(CoreContext& context);
    ~JobManager();

    void setObserver(JobObserver* observer);

    /// Takes up every job that was live when the last pinfoldd ended. `ready` is called once the inventory is complete. Before
    /// that nothing is stopped, and no call may be let in. Error: Internal or SystemdFailed: exit and let systemd start us again.
    void recover(std::function<void(Result<void>)> ready);

    /// True: PID 1 shuts the node down, and the ends of the jobs have begun.
    bool shuttingDown() const;
    /// At shutdown, when pinfoldd is to exit: `done` is called once all jobs have their receipts, or after 30 s.
    void finishShutdown(std::function<void()> done);

    /// Call this when the context's configuration has changed.
    void configChanged();

    /// The node takes no new jobs until undrain(), even after restarts and reboots. Live jobs go on, and take new tasks. An empty
    /// reason leaves an existing drain as it is. Errors: Denied, InvalidArgument, Busy, Internal.
    void drain(const Caller& caller, const std::string& reason, Reply<void> reply);
    /// Ends a drain that drain() began. Does nothing without one. Errors: Denied, Busy, Internal.
    void undrain(const Caller& caller, Reply<void> reply);
    /// Unset: the node takes jobs. pinfoldd itself may drain the node, see unkillable.action.
    std::optional<Drain> draining() const;

    /// Looks for orphaned units, cgroups and records, and cleans up those that have no processes. `dryRun`: only says what it
    /// would do. Errors: Denied, Internal, SystemdFailed.
    void reconcile(const Caller& caller, bool dryRun, Reply<Reconciliation> reply);

    void createJob(const Caller& caller, CreateRequest request, Reply<JobSummary> reply);
    /// Opens a job without a batch script. While that job is live, the same request again gets the same answer.
    void openJob(const Caller& caller, CreateRequest request, Reply<JobSummary> reply);
    void addTask(const Caller& caller, TaskRequest request, Reply<TaskAdded> reply);
    void adopt(const Caller& caller, const std::string& key, std::vector<UniqueFd> processes, Reply<TaskAdded> reply);
    void endJob(const Caller& caller, const std::string& key, EndReport report, Reply<Receipt> reply);
    void stopJob(const Caller& caller, const std::string& key, std::optional<std::uint64_t> grace, Reply<void> reply);
    void killJob(const Caller& caller, const std::string& key, int signal, Reply<void> reply);
    void suspendJob(const Caller& caller, const std::string& key, Reply<void> reply);
    void resumeJob(const Caller& caller, const std::string& key, Reply<void> reply);
    /// Changes the limits that are set, all or none. `force`: also below what is in use, which kills. Answers what is in force.
    void setLimits(const Caller& caller, const std::string& key, ResourceLimits change, bool force, Reply<ResourceLimits> reply);
    void waitJob(const Caller& caller, const std::string& key, Reply<Receipt> reply);
    /// Waits until the task is gone, which it may be already. `leader`: of that task, because a later task may have its number.
    void waitTask(const Caller& caller, const std::string& key, std::uint32_t task, std::optional<pid_t> leader,
                  Reply<void> reply);

    std::vector<JobSummary> jobs() const;
    /// At most kMostJobsAtOnce jobs in the order of their keys, from the first key that is greater than `key`.
    std::vector<JobSummary> jobsAfter(const std::string& key) const;
    /// The running jobs come first. Among the running jobs, and among the others, the newest job comes first.
    std::vector<JobSummary> jobsOfUser(uid_t uid) const;
    std::size_t jobCount() const;
    HistoryFigures historyFigures() const;
    Result<JobSummary> job(const std::string& key) const;
    Result<std::pair<JobSummary, std::uint32_t>> jobOfProcess(pid_t pid) const;
    Result<JobSummary> jobOfUnit(const std::string& unit) const;
    /// Answers with at most kMostProcessesAtOnce processes in the order of their numbers, from the first that is greater than
    /// `after`. The answer comes within Describer::kPatience.
    void processes(const Caller& caller, const std::string& key, pid_t after, Reply<std::vector<JobProcess>> reply);
    Result<Usage> usage(const Caller& caller, const std::string& key) const;
    void receipt(const Caller& caller, const std::string& key, Reply<Receipt> reply) const;
    /// Answers with at most kMostReceiptsAtOnce receipts.
    void receipts(const Caller& caller, ReceiptFilter filter, Reply<std::vector<Receipt>> reply) const;

private:
    void takeUp(std::function<void(Result<void>)> ready);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace pinfold
