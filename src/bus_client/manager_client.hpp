// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls the methods of org.pinfold1.Manager, and waits for each answer. Each function makes a synchronous call with its own
// time limit.
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "model/allocation.hpp"
#include "model/drain.hpp"
#include "model/job_info.hpp"
#include "model/node_resources.hpp"
#include "model/profile.hpp"
#include "model/receipt.hpp"
#include "model/reconciliation.hpp"
#include "model/resource_limits.hpp"
#include "store/history.hpp"

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pinfold {

/// Describes a request to open a job that has no process yet.
struct JobOpening {
    uid_t uid = 0;
    ResourceLimits limits;
    AllocationRequest allocation = {};
    std::optional<std::uint64_t> slots = {}; ///< the number of the job's slots, 1 to 8192
    std::optional<Microseconds> linger = {}; ///< how long the job lives after its last task; if unset, the site's setting applies
    std::optional<Microseconds> reportWithin = {}; ///< how long pinfoldd waits for EndJob after the leader's end; if unset, 10 s
    JobIdentity identity = {};
};

/// Describes the limits, the allocation and the slots of a live job.
struct Holding {
    ResourceLimits limits;
    std::vector<std::string> limitsNotEnforced; ///< the names of the limits that the kernel does not enforce
    Allocation allocation;
    std::optional<std::uint64_t> slots; ///< unset if the batch system did not say how many slots the job has
};

/// Calls methods of pinfoldd. Every call can return TimedOut, Denied, and all errors of org.pinfold1.Error.*. If the client
/// cannot reach pinfoldd or the bus, the error is Unreachable.
class ManagerClient {
public:
    /// Connects to the system bus.
    static Result<ManagerClient> connect();
    /// Connects to the system bus, and sends all calls of the manager object to the unique name of the running pinfoldd. The bus
    /// does not start a program for a call to a unique name.
    static Result<ManagerClient> connectTo(const std::string& uniqueName);
    ManagerClient(ManagerClient&&) noexcept;
    ManagerClient& operator=(ManagerClient&&) noexcept;
    ~ManagerClient();

    Result<std::string> version() const;
    /// Says why the node takes no jobs, or returns nullopt if the node takes jobs.
    Result<std::optional<Drain>> draining() const;
    /// Says how much of each resource the node has, and how much of each resource the live jobs hold. If pinfoldd is too old to
    /// report resources, all members of the result are unset.
    Result<NodeResources> resources() const;
    /// Drains the node. If the reason is empty and the node is already drained, drain() does not change the reason of the
    /// drain.
    Result<void> drain(const std::string& reason) const;
    Result<void> undrain() const;
    Result<Reconciliation> reconcile(bool dryRun) const;
    /// Makes pinfoldd read its configuration again. The error ConfigInvalid names the file and the line of the fault. After the
    /// error ConfigInvalid, pinfoldd keeps the old configuration.
    Result<void> reload() const;
    // A function that returns a list asks pinfoldd for all pages of the list.
    /// The argument `timeout` is the time limit for each page of the list.
    Result<std::vector<JobInfo>> listJobs(Microseconds timeout = 30s) const;
    Result<JobInfo> job(const std::string& key) const;
    /// Finds the job and the task of a process. Returns the key of the job and the number of the task.
    Result<std::pair<std::string, std::uint32_t>> jobOfProcess(pid_t pid) const;
    Result<ResourceLimits> limits(const std::string& key) const;
    /// Returns the names of the job's limits that the kernel does not enforce.
    Result<std::vector<std::string>> limitsNotEnforced(const std::string& key) const;
    Result<Allocation> allocation(const std::string& key) const;
    /// Returns the limits, the allocation and the slots of a live job. holding() makes only one call on the bus, because some
    /// commands call holding() for many jobs. The error is NoSuchJob if the job has ended since the call of listJobs().
    /// holding() can fail with Busy if pinfoldd was still creating the job during the call of listJobs().
    Result<Holding> holding(const JobInfo& job) const;
    Result<Usage> usage(const std::string& key) const;
    /// Returns the facts that the batch system and the owner have told pinfoldd about a live job. The result is an error if
    /// pinfoldd is old and does not have the method GetIdentity.
    Result<JobIdentity> identity(const std::string& key) const;
    Result<std::vector<JobProcess>> processes(const std::string& key) const;
    Result<Receipt> receipt(const std::string& key) const;
    /// Returns the profile of a live job: the resources that the job has used over time. If no live job has the key, profile()
    /// returns the profile of the newest job with this key.
    Result<Profile> profile(const std::string& key, Microseconds timeout = 30s) const;
    Result<std::vector<Receipt>> receipts(const ReceiptFilter& filter) const;
    /// Removes receipts from the history. If the request contains a limit for the history, pinfoldd uses this limit in place of
    /// the limit in the configuration. vacuum() waits at most an hour for pinfoldd to remove the receipts.
    Result<Vacuumed> vacuum(const VacuumRequest& request) const;
    Result<void> stop(const std::string& key, std::optional<Microseconds> grace) const;
    Result<void> suspend(const std::string& key) const;
    Result<void> resume(const std::string& key) const;
    /// Changes limits of a job. Returns the limits of the job that are in force after the change.
    Result<ResourceLimits> setLimits(const std::string& key, const ResourceLimits& change, bool force) const;
    Result<void> kill(const std::string& key, int signal) const;
    /// Opens a job, and returns its slice.
    Result<std::string> open(const std::string& key, const JobOpening& opening) const;
    /// Ends a job, and waits until no process of the job is left.
    Result<Receipt> end(const std::string& key, const ExitState& exit, Microseconds timeout) const;
    /// Adds the batch script to a job that somebody opened. The argument `output` is the descriptor of the job's standard
    /// error, or nullopt. Returns the task's number and unit.
    Result<std::pair<std::uint32_t, std::string>> addBatchScript(const std::string& key, const UniqueFd& leader,
                                                                 std::optional<int> output = {}) const;
    /// Adds a task with the given processes to a job. Returns the task's number and unit.
    Result<std::pair<std::uint32_t, std::string>> adopt(const std::string& key, const std::vector<UniqueFd>& processes) const;
    /// Waits for the end of a job.
    Result<Receipt> wait(const std::string& key, Microseconds timeout) const;

private:
    struct Impl;
    explicit ManagerClient(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace pinfold
