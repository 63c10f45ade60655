// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "model/allocation.hpp"
#include "model/job_key.hpp"
#include "model/job_state.hpp"
#include "model/receipt.hpp"
#include "model/resource_limits.hpp"

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// A process across a restart of pinfoldd: the pid alone could be another's by then.
struct ProcessIdentity {
    pid_t pid = 0;
    std::uint64_t started = 0; ///< microseconds after boot

    bool operator==(const ProcessIdentity&) const = default;
};

/// A task that is alive. An adopted task has no leader: it ends when its scope is empty.
struct TaskRecord {
    std::optional<ProcessIdentity> leader = {};
    std::optional<ProcessIdentity> supervisor = {}; ///< of a further task; task 0's is the job's
    bool shepherd = false;                          ///< the leader is the batch system's own process above the task
    bool leftoversListed = false;                   ///< what its leader left behind is in the job's record

    bool operator==(const TaskRecord&) const = default;
};

/// What is noted when a job has run empty: its cgroup does not last, and its receipt may be written much later.
struct FinalFigures {
    std::uint64_t ended = 0; ///< CLOCK_REALTIME, microseconds
    std::uint64_t wall = 0;  ///< microseconds, by CLOCK_BOOTTIME
    Usage usage;             ///< without what is of live jobs only

    bool operator==(const FinalFigures&) const = default;
};

/// All that a restarted pinfoldd needs to know of a job; one small file each in the runtime directory.
struct JobRecord {
    JobRecord(std::string jobId, std::string boot, JobKey jobKey)
        : id(std::move(jobId)), bootId(std::move(boot)), key(std::move(jobKey)) {}

    std::string id;
    std::string bootId; ///< of the boot that it ran in: /proc/sys/kernel/random/boot_id
    JobKey key;
    JobState state = JobState::Creating;
    std::uint32_t uid = 0;
    std::uint64_t created = 0;     ///< CLOCK_REALTIME, microseconds
    std::uint64_t createdBoot = 0; ///< CLOCK_BOOTTIME, microseconds
    ResourceLimits limits;
    std::vector<std::string> limitsNotEnforced; ///< their names: the kernel does not hold the job to them
    Allocation allocation;
    std::optional<std::uint32_t> limitsForcedBy; ///< who lowered a limit below what was in use
    std::optional<std::uint64_t> suspendedSince; ///< CLOCK_BOOTTIME, microseconds: it is suspended
    std::uint64_t suspended = 0;                 ///< microseconds, of earlier suspensions
    std::uint64_t oomKills = 0;                  ///< processes killed for memory that have been looked into
    std::optional<OomVerdict> oom;               ///< of the first
    bool oomSaid = false;                        ///< in the job's own output
    std::optional<ProcessIdentity> supervisor;
    /// The owner made the batch script part of the job, and so may say how it ended. Else only the batch system may.
    bool ownersBatch = false;
    std::map<std::uint32_t, TaskRecord> tasks; ///< 0: the batch script, which a job that was opened need not have
    /// Of a job that was opened: microseconds that it outlives its last task while it has no batch script. kInfinity: for ever.
    std::optional<std::uint64_t> linger;
    /// Microseconds. Whoever made the job will call EndJob within this time after the leader has ended. Unset: ReportWait
    /// decides.
    std::optional<std::uint64_t> reportWithin;
    std::uint32_t nextTask = 1;
    bool neverRan =
        false; ///< its creation failed after systemd had begun to start it: what is there of it ends without a receipt

    // From the moment that the end began:
    std::optional<JobResult> cause;
    ExitState exit;
    std::optional<std::uint32_t> stoppedBy;
    std::optional<std::uint64_t> grace;           ///< asked for by StopJob, microseconds
    Leftovers leftovers;                          ///< of tasks that ended before, too
    bool leftoversListed = false;                 ///< those of the job's own end are among them
    std::optional<std::uint64_t> unkillableSince; ///< CLOCK_REALTIME, microseconds: SIGKILL, which something has outlived
    bool unkillableInFuse = false; ///< it waits for a file server that users run themselves: nothing is wrong with the node
    std::optional<FinalFigures> figures;

    bool operator==(const JobRecord&) const = default;
};

/// Adds a suspension that is under way to the total. False: there is none.
bool endSuspension(JobRecord& record, std::uint64_t now);

/// One JSON document with a version. encode() of decode() is the identity.
std::string encode(const JobRecord& record);
/// Errors: InvalidArgument for anything that encode() can't have written, newer versions included.
Result<JobRecord> decodeJobRecord(std::string_view text);

/// Receipts as JSON, for the history and for people. The keys are the names of org.pinfold1.Manager.GetReceipt; unknown is null.
std::string encode(const Receipt& receipt);
Result<Receipt> decodeReceipt(std::string_view text);

} // namespace pinfold
