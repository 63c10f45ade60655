// SPDX-License-Identifier: LGPL-2.1-or-later
// Does what the methods of org.pinfold1.Manager promise, without D-Bus. The bus layer decodes the requests, calls JobManager, and
// encodes the answers.
#pragma once

#include "core/access/authorizer.hpp"
#include "core/job_observer.hpp"
#include "core/requests.hpp"
#include "model/drain.hpp"
#include "model/metrics.hpp"
#include "model/reconciliation.hpp"
#include "store/history.hpp"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pinfold {

struct CoreContext;

class JobManager {
public:
    // One answer lists at most this many jobs, because users can have any number of jobs. The loop needs less than 100 ms for
    // such an answer.
    static constexpr std::size_t kMostJobsAtOnce = 2000;
    static constexpr std::size_t kMostProcessesAtOnce = 1000;
    static constexpr std::uint32_t kMostReceiptsAtOnce = 250;

    explicit JobManager(CoreContext& context);
    ~JobManager();

    void setObserver(JobObserver* observer);

    /// Takes up every job that was live when the last pinfoldd ended. JobManager calls `ready` once it knows all records, units,
    /// cgroups and processes of these jobs. Before `ready`, JobManager stops nothing, and no caller may be served. After an error
    /// (Internal or SystemdFailed), exit and let systemd start pinfoldd again.
    void recover(std::function<void(Result<void>)> ready);

    /// Returns true if PID 1 shuts the node down, and the ends of the jobs have begun.
    bool shuttingDown() const;
    /// Call this at a shutdown, when pinfoldd is to exit. JobManager calls `done` once all jobs have their receipts, or after 30
    /// s.
    void finishShutdown(std::function<void()> done);

    /// Call this when the context's configuration has changed.
    void configChanged();

    /// Drains the node: the node takes no new jobs until undrain(), even after restarts and reboots. Live jobs go on, and take
    /// new tasks. An empty reason leaves an existing drain as it is. Errors: Denied, InvalidArgument, Busy, Internal.
    void drain(const Caller& caller, const std::string& reason, Reply<void> reply);
    /// Ends a drain that drain() began. Does nothing if there is no such drain. Errors: Denied, Busy, Internal.
    void undrain(const Caller& caller, Reply<void> reply);
    /// Says why the node is drained, or returns nullopt if the node takes jobs. pinfoldd itself may drain the node too (see
    /// unkillable.action).
    std::optional<Drain> draining() const;

    /// Looks for orphaned units, cgroups and records, and cleans up those that have no processes. With `dryRun`, only says what
    /// it would do. Errors: Denied, Internal, SystemdFailed.
    void reconcile(const Caller& caller, bool dryRun, Reply<Reconciliation> reply);

    void createJob(const Caller& caller, CreateRequest request, Reply<JobSummary> reply);
    /// Opens a job without a batch script. While the job is live, a repetition of the request gets the same answer.
    void openJob(const Caller& caller, CreateRequest request, Reply<JobSummary> reply);
    void addTask(const Caller& caller, TaskRequest request, Reply<TaskAdded> reply);
    void adopt(const Caller& caller, const std::string& key, std::vector<UniqueFd> processes, Reply<TaskAdded> reply);
    void endJob(const Caller& caller, const std::string& key, EndReport report, Reply<Receipt> reply);
    void stopJob(const Caller& caller, const std::string& key, std::optional<std::uint64_t> grace, Reply<void> reply);
    void killJob(const Caller& caller, const std::string& key, int signal, Reply<void> reply);
    void suspendJob(const Caller& caller, const std::string& key, Reply<void> reply);
    void resumeJob(const Caller& caller, const std::string& key, Reply<void> reply);
    /// Changes those limits that are set in `change`: all of them or none. With `force`, a new limit may be below what the job
    /// uses now, and the kernel then kills. The answer has the limits that are in force afterwards.
    void setLimits(const Caller& caller, const std::string& key, ResourceLimits change, bool force, Reply<ResourceLimits> reply);
    void waitJob(const Caller& caller, const std::string& key, Reply<Receipt> reply);
    /// Waits until the task is gone, or answers at once if it is gone already. `leader` is the leader of the task that is meant,
    /// because a later task may have the same number.
    void waitTask(const Caller& caller, const std::string& key, std::uint32_t task, std::optional<pid_t> leader,
                  Reply<void> reply);

    std::vector<JobSummary> jobs() const;
    /// Returns at most kMostJobsAtOnce jobs in the order of their keys. The first one has the lowest key that is greater than
    /// `key`.
    std::vector<JobSummary> jobsAfter(const std::string& key) const;
    /// Returns the user's jobs: first the running jobs, and then the others. In both groups the newest job comes first.
    std::vector<JobSummary> jobsOfUser(uid_t uid) const;
    std::size_t jobCount() const;
    /// Counts the live jobs that cannot be killed. A job that waits for a file server that users run does not count.
    std::size_t unkillableCount() const;
    HistoryFigures historyFigures() const;
    Result<JobSummary> job(const std::string& key) const;
    Result<std::pair<JobSummary, std::uint32_t>> jobOfProcess(pid_t pid) const;
    Result<JobSummary> jobOfUnit(const std::string& unit) const;
    /// Answers with at most kMostProcessesAtOnce processes of the job in the order of their numbers. The first one has the lowest
    /// number that is greater than `after`. The answer comes within Describer::kPatience.
    void processes(const Caller& caller, const std::string& key, pid_t after, Reply<std::vector<JobProcess>> reply);
    Result<Usage> usage(const Caller& caller, const std::string& key) const;
    void receipt(const Caller& caller, const std::string& key, Reply<Receipt> reply) const;
    /// Answers with the receipts that match the filter, but at most kMostReceiptsAtOnce.
    void receipts(const Caller& caller, ReceiptFilter filter, Reply<std::vector<Receipt>> reply) const;

private:
    void takeUp(std::function<void(Result<void>)> ready);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace pinfold
