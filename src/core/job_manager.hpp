// SPDX-License-Identifier: LGPL-2.1-or-later
// Implements the methods of org.pinfold1.Manager without D-Bus. The bus layer decodes the requests, calls JobManager, and
// encodes the answers.
#pragma once

#include "base/clock.hpp"
#include "core/access/authorizer.hpp"
#include "core/job_observer.hpp"
#include "core/requests.hpp"
#include "model/drain.hpp"
#include "model/metrics.hpp"
#include "model/node_resources.hpp"
#include "model/profile.hpp"
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

struct Assembly;
struct CoreContext;

class JobManager {
public:
    // The number of jobs in one answer is limited, because users can have any number of jobs. For the largest answer,
    // pinfoldd's event loop needs less than 100 ms.
    static constexpr std::size_t kMostJobsAtOnce = 2000;
    static constexpr std::size_t kMostProcessesAtOnce = 1000;
    static constexpr std::uint32_t kMostReceiptsAtOnce = 250;

    explicit JobManager(CoreContext& context);
    ~JobManager();

    void setObserver(JobObserver* observer);

    /// Takes over every job that was live when the last pinfoldd ended. JobManager first collects all records, units, cgroups and
    /// processes of the jobs, and only then changes jobs. After the takeover of all jobs, JobManager calls `ready`. Before the
    /// call of `ready`, pinfoldd must not answer requests. If `ready` gets an error (Internal or SystemdFailed), pinfoldd must
    /// exit, so that systemd starts pinfoldd again.
    void recover(std::function<void(Result<void>)> ready);

    /// Returns true if PID 1 is shutting the node down and JobManager has begun to end the jobs.
    bool shuttingDown() const;
    /// Call finishShutdown() when pinfoldd has to exit during a shutdown of the node. JobManager calls `done` when all jobs
    /// have their receipts, or after 30 s.
    void finishShutdown(std::function<void()> done);
    /// Stores at once all changes that JobManager has put off until the loop is idle. Call storeChanges() before pinfoldd exits.
    void storeChanges();

    /// Call configChanged() after each change of the context's configuration.
    void configChanged();

    /// Drains the node: the node takes no new jobs until somebody calls undrain(). The node stays drained after a restart of
    /// pinfoldd and after a reboot. Live jobs continue to run, and can start new tasks. If `reason` is empty, drain() does not
    /// change an existing drain. drain() fails with Denied, InvalidArgument, Busy or Internal.
    void drain(const Caller& caller, const std::string& reason, Reply<void> reply);
    /// Ends a drain that began with a call of drain(), or that began because pinfoldd could not read drain.json. undrain() does
    /// not end other drains. Errors: Denied, Busy, Internal.
    void undrain(const Caller& caller, Reply<void> reply);
    /// Says why the node is drained, or returns nullopt if the node takes jobs. An administrator can drain the node. With
    /// unkillable.action = "drain" or history.on_failure = "drain", pinfoldd can drain the node without an administrator.
    std::optional<Drain> draining() const;

    /// Looks for orphaned units, cgroups and records, and removes the orphans without processes. With `dryRun`, reconcile()
    /// changes nothing, and returns what reconcile() would change. Errors: Denied, Internal, SystemdFailed.
    void reconcile(const Caller& caller, bool dryRun, Reply<Reconciliation> reply);

    void createJob(const Caller& caller, CreateRequest request, Reply<JobSummary> reply);
    /// Opens a job without a batch script. If the caller repeats the request while the job is live, pinfoldd repeats its first
    /// answer.
    void openJob(const Caller& caller, CreateRequest request, Reply<JobSummary> reply);
    void addTask(const Caller& caller, TaskRequest request, Reply<TaskAdded> reply);
    void adopt(const Caller& caller, const std::string& key, AdoptRequest request, Reply<TaskAdded> reply);
    void endJob(const Caller& caller, const std::string& key, EndReport report, Reply<Receipt> reply);
    void stopJob(const Caller& caller, const std::string& key, std::optional<Microseconds> grace, Reply<void> reply);
    void killJob(const Caller& caller, const std::string& key, int signal, Reply<void> reply);
    void suspendJob(const Caller& caller, const std::string& key, Reply<void> reply);
    void resumeJob(const Caller& caller, const std::string& key, Reply<void> reply);
    /// Changes all limits that are set in `change`. If one limit cannot be changed, setLimits() leaves all limits as they are.
    /// With `force`, a new limit can be lower than the present use of the job. If the job uses more than a new limit allows, the
    /// kernel can kill processes of the job. The answer contains the job's limits after the change.
    void setLimits(const Caller& caller, const std::string& key, ResourceLimits change, bool force, Reply<ResourceLimits> reply);
    void waitJob(const Caller& caller, const std::string& key, Reply<Receipt> reply);
    /// Answers when the task has ended, or at once if the task has ended already. A later task can have the number of an ended
    /// task, so `report.leader` says which task the caller means. pinfoldd stores `report.exit` for the receipt, if the caller is
    /// an admin or the owner of the job.
    void waitTask(const Caller& caller, const std::string& key, std::uint32_t task, const EndReport& report, Reply<void> reply);

    std::vector<JobSummary> jobs() const;
    /// Returns at most kMostJobsAtOnce jobs in the order of their keys. The result contains only jobs whose key is greater than
    /// `key`.
    std::vector<JobSummary> jobsAfter(const std::string& key) const;
    /// Returns the jobs of a user. The running jobs come before the other jobs, and both groups are sorted from the newest job to
    /// the oldest job.
    std::vector<JobSummary> jobsOfUser(uid_t uid) const;
    std::size_t jobCount() const;
    /// Counts the live jobs that cannot be killed. A job that waits for a file server of a user does not count as a job that
    /// cannot be killed.
    std::size_t unkillableCount() const;
    /// Counts the live jobs that are idle (Sampler::idleJobs()).
    std::optional<IdleJobs> idleJobs() const;
    /// Says how much of each resource the node has, how much the site keeps for itself, and how much the live jobs hold.
    NodeResources resources() const;
    /// Returns the name of the owner of a live job, or nullopt if the user database has not answered yet (Origins::nameOf()).
    std::optional<std::string> userName(uid_t uid) const;
    HistoryFigures historyFigures() const;
    Result<JobSummary> job(const std::string& key) const;
    Result<std::pair<JobSummary, std::uint32_t>> jobOfProcess(pid_t pid) const;
    Result<JobSummary> jobOfUnit(const std::string& unit) const;
    /// Answers with at most kMostProcessesAtOnce processes of the job in the order of their process ids. The answer contains only
    /// processes whose process id is greater than `after`. The caller gets the answer within the time Describer::kPatience.
    void processes(const Caller& caller, const std::string& key, pid_t after, Reply<std::vector<JobProcess>> reply);
    Result<Usage> usage(const Caller& caller, const std::string& key) const;
    /// Returns the facts that the batch system and the owner have reported about a live job.
    Result<JobIdentity> identity(const Caller& caller, const std::string& key) const;
    void receipt(const Caller& caller, const std::string& key, Reply<Receipt> reply) const;
    /// Answers with the profile of the live job that has the key `key`. If no live job has the key, profile() answers with the
    /// profile of the newest ended job with the key. If Sampler never read figures of the job, the profile is empty.
    void profile(const Caller& caller, const std::string& key, Reply<Profile> reply) const;
    /// Answers with the receipts that match the filter. An answer has at most kMostReceiptsAtOnce receipts.
    void receipts(const Caller& caller, ReceiptFilter filter, Reply<std::vector<Receipt>> reply) const;

private:
    void takeUp(std::function<void(Result<void>)> ready);

    std::unique_ptr<Assembly> impl_;
};

} // namespace pinfold
