// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares the requests to JobManager, and the answers of JobManager.
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "model/allocation.hpp"
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

/// Is the type of the callbacks that get the answer to a request. JobManager calls a Reply exactly once, possibly before the
/// function that got the Reply returns.
template <class T> using Reply = std::function<void(Result<T>)>;

struct CreateRequest {
    std::string key;     ///< if empty, pinfoldd makes the key manual.<n>; openJob() needs a key
    UniqueFd leader;     ///< a pidfd; empty for openJob()
    UniqueFd supervisor; ///< a pidfd; empty if the job has no supervisor
    ForeignFd output;    ///< the job's standard error, for the one line about an out-of-memory kill; may be empty
    std::optional<uid_t> owner;
    ResourceLimits limits;
    AllocationRequest allocation = {};
    std::optional<std::uint64_t> slots = {};       ///< 1 to 8192; Config::Jobs::slots says what the slots mean
    bool shepherd = false;                         ///< the leader is the batch system's own process above the job's processes
    std::optional<Microseconds> linger = {};       ///< the time that an opened job stays without tasks; unset: the site's setting
    std::optional<Microseconds> reportWithin = {}; ///< see ReportWait; if unset, 10 s for an opened job and 0 for
                                                   ///< other jobs
};

/// Holds a request to add a task to a job, or to add the batch script to an opened job.
struct TaskRequest {
    std::string key;
    UniqueFd leader;     ///< a pidfd
    UniqueFd supervisor; ///< a pidfd; empty if the task has no supervisor
    ForeignFd output;    ///< means the same as in CreateRequest; only for a batch script
    bool batch = false;
    bool shepherd = false;
    std::optional<CreateRequest> open = {}; ///< if no job has this key, pinfoldd opens this job first
};

/// Holds the report of a supervisor about the end of its child.
struct EndReport {
    ExitState exit;
    std::optional<pid_t> leader; ///< the leader that has ended; a later job may have the same key, but has another leader
};

struct JobSummary {
    JobKey key;
    JobState state = JobState::Creating;
    uid_t uid = 0;
    pid_t leader = 0;   ///< 0 if the job has no batch script
    RealTime created{}; ///< when the job was created
    bool suspended = false;
    ResourceLimits limits = {};
    std::vector<std::string> limitsNotEnforced = {}; ///< the names of the limits that are not in force
    std::vector<std::uint32_t> tasks = {};
    Allocation allocation = {};
    std::optional<RealTime> unkillableSince = {}; ///< when pinfoldd sent SIGKILL in vain
    bool unkillableInFuse = false; ///< the job waits for a file server that users run themselves, so pinfoldd takes no action
};

struct TaskAdded {
    JobKey key;
    std::uint32_t task = 0;
    std::map<std::string, std::string> environment; ///< tells the job's programs about the allocation
};

inline ShownState shownState(const JobSummary& job) { return shownState(job.state, job.suspended); }

} // namespace pinfold
