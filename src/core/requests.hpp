// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares the requests that JobManager accepts, and the answers that JobManager gives.
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "model/allocation.hpp"
#include "model/job_identity.hpp"
#include "model/job_info.hpp"
#include "model/job_key.hpp"
#include "model/job_state.hpp"
#include "model/receipt.hpp"
#include "model/resource_limits.hpp"
#include "os/descriptor_closer.hpp"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// Reply is the type of the callbacks that get the answer to a request. JobManager calls a Reply exactly once. A function that
/// takes a Reply can call the Reply before the function returns.
template <class T> using Reply = std::function<void(Result<T>)>;

struct CreateRequest {
    std::string key;     ///< the job's key; if empty, pinfoldd makes the key manual.<n>; openJob() needs a key
    UniqueFd leader;     ///< the pidfd of the leader; empty for openJob()
    UniqueFd supervisor; ///< the pidfd of the supervisor; empty if the job has no supervisor
    ForeignFd output;    ///< the job's standard error, to which pinfoldd writes lines for the user; can be empty
    std::optional<uid_t> owner;
    ResourceLimits limits;
    AllocationRequest allocation = {};
    std::optional<std::uint64_t> slots = {}; ///< the number of slots, 1 to 8192; Config::Jobs::slots says what a slot means
    JobIdentity identity = {}; ///< every caller can set the labels; only admins are allowed to set the other members
    bool shepherd = false;     ///< the leader is a process of the batch system, and not of the user
    /// pinfoldd ends an opened job that has had no processes for the time `linger`. If `linger` is unset, the site's setting
    /// applies.
    std::optional<Microseconds> linger = {};
    /// The maximum time for which pinfoldd waits for a report on the leader's end (ReportWait). ReportWait ignores `reportWithin`
    /// if the job has a supervisor. If `reportWithin` is unset, pinfoldd waits at most 10 s in an opened job, and does not wait
    /// in other jobs without a supervisor.
    std::optional<Microseconds> reportWithin = {};
};

/// Holds a request to add a task to a job, or to add the batch script to an opened job.
struct TaskRequest {
    std::string key;
    UniqueFd leader;     ///< the pidfd of the leader
    UniqueFd supervisor; ///< the pidfd of the supervisor; empty if the task has no supervisor
    ForeignFd output;    ///< the standard error of the batch script, as in CreateRequest
    bool batch = false;
    bool shepherd = false;
    /// `open` describes the job that pinfoldd opens if no running job has the key.
    std::optional<CreateRequest> open = {};
};

/// Holds a request to move running processes into a job. The moved processes form one new task of the job.
struct AdoptRequest {
    std::vector<UniqueFd> processes = {}; ///< pidfds
    TaskKind kind = TaskKind::Task;
};

/// Holds a supervisor's report on how the leader ended.
struct EndReport {
    ExitState exit;
    /// The process id of the ended leader. The process id of the leader distinguishes the job from a later job with the same key.
    std::optional<pid_t> leader;
    JobIdentity identity = {}; ///< facts that the batch system reports at the end of the job; only admins can set `identity`
};

struct JobSummary {
    JobKey key;
    JobState state = JobState::Creating;
    uid_t uid = 0;
    pid_t leader = 0;   ///< the process id of the leader; 0 if the job has no batch script
    RealTime created{}; ///< the time at which the job was created
    bool suspended = false;
    ResourceLimits limits = {};
    std::vector<std::string> limitsNotEnforced = {}; ///< the names of the limits that the kernel does not enforce
    std::vector<std::uint32_t> tasks = {};
    Allocation allocation = {};
    std::optional<std::uint64_t> slots = {};      ///< the number of slots that the batch system gave the job
    std::optional<RealTime> unkillableSince = {}; ///< the time of a SIGKILL that did not end all processes of the job
    bool unkillableInFuse = false; ///< the job waits for a file server that users run themselves, so pinfoldd takes no action
    std::optional<std::uint64_t> memoryNeed = {}; ///< the highest sum of anonymous and shared memory so far, in bytes
};

struct TaskAdded {
    JobKey key;
    std::uint32_t task = 0;
    /// The environment variables from which the job's programs learn the job's CPUs and GPUs.
    std::map<std::string, std::string> environment;
};

/// Says which receipts one or more transactions of the history have stored.
struct StoredReceipts {
    std::string epoch;
    std::uint64_t first = 0; ///< the lowest sequence
    std::uint64_t last = 0;  ///< the highest sequence
};

inline ShownState shownState(const JobSummary& job) { return shownState(job.state, job.suspended); }

} // namespace pinfold
