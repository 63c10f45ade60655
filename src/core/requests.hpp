// SPDX-License-Identifier: LGPL-2.1-or-later
// What callers ask of JobManager, and what it answers.
#pragma once

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

inline ShownState shownState(const JobSummary& job) { return shownState(job.state, job.suspended); }

} // namespace pinfold
