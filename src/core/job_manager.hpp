// SPDX-License-Identifier: LGPL-2.1-or-later
// The use cases of org.pinfold1.Manager, without D-Bus. The bus layer decodes, calls, and encodes.
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
