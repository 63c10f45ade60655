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

/// Identifies a process across a restart of pinfoldd. The pid alone could be another process's by then.
struct ProcessIdentity {
    pid_t pid = 0;
    std::uint64_t started = 0; ///< microseconds after boot

    bool operator==(const ProcessIdentity&) const = default;
};

/// A task that is alive. An adopted task has no leader. It ends when its scope is empty.
struct TaskRecord {
    std::optional<ProcessIdentity> leader = {};
    std::optional<ProcessIdentity> supervisor = {}; ///< of a further task; the supervisor of task 0 is in the job's record
    bool shepherd = false;                          ///< the leader is the batch system's own process above the task
    bool leftoversListed = false;                   ///< the job's record has what the task's leader left behind

    bool operator==(const TaskRecord&) const = default;
};

/// The figures that pinfoldd notes when a job has run empty, because the cgroup does not last, and the receipt may be written
/// much later.
struct FinalFigures {
    std::uint64_t ended = 0; ///< CLOCK_REALTIME, microseconds
    std::uint64_t wall = 0;  ///< microseconds, by CLOCK_BOOTTIME
    Usage usage;             ///< without the figures that only live jobs have

    bool operator==(const FinalFigures&) const = default;
};

/// All that a restarted pinfoldd needs to know of a job. For each job, a small file in the runtime directory has the record.
struct JobRecord {
    JobRecord(std::string jobId, std::string boot, JobKey jobKey)
        : id(std::move(jobId)), bootId(std::move(boot)), key(std::move(jobKey)) {}

    std::string id;
    std::string bootId; ///< the boot in which the job ran: /proc/sys/kernel/random/boot_id
    JobKey key;
    JobState state = JobState::Creating;
    std::uint32_t uid = 0;
    std::uint64_t created = 0;     ///< CLOCK_REALTIME, microseconds
    std::uint64_t createdBoot = 0; ///< CLOCK_BOOTTIME, microseconds
    ResourceLimits limits;
    std::vector<std::string> limitsNotEnforced; ///< names of the limits that the kernel does not enforce
    Allocation allocation;
    std::optional<std::uint32_t> limitsForcedBy; ///< the user who lowered a limit below what was in use
    std::optional<std::uint64_t> suspendedSince; ///< CLOCK_BOOTTIME, microseconds; unset: the job is not suspended
    std::uint64_t suspended = 0;                 ///< microseconds of earlier suspensions
    std::uint64_t oomKills = 0;                  ///< kills because memory ran out that pinfoldd has already looked into
    std::optional<OomVerdict> oom;               ///< the verdict on the first kill
    bool oomSaid = false;                        ///< the job's own output has a line about it
    std::optional<ProcessIdentity> supervisor;
    /// True: the owner made the batch script part of the job, and so may say how it ended. False: only the batch system may.
    bool ownersBatch = false;
    std::map<std::uint32_t, TaskRecord> tasks; ///< 0: the batch script, which a job that was opened need not have
    /// For a job that was opened: for how many microseconds it outlives its last task while it has no batch script. kInfinity:
    /// for ever.
    std::optional<std::uint64_t> linger;
    /// Microseconds. The caller that made the job will call EndJob within this time after the leader has ended. Unset: ReportWait
    /// decides.
    std::optional<std::uint64_t> reportWithin;
    std::uint32_t nextTask = 1;
    bool neverRan = false; ///< creation failed after systemd had begun to start the job: what exists of it ends without a receipt

    // Set from the moment when the end began:
    std::optional<JobResult> cause;
    ExitState exit;
    std::optional<std::uint32_t> stoppedBy;
    std::optional<std::uint64_t> grace; ///< microseconds that StopJob asked for
    Leftovers leftovers;                ///< includes the leftovers of tasks that ended before
    bool leftoversListed = false;       ///< `leftovers` has those of the job's own end
    /// CLOCK_REALTIME, microseconds: when SIGKILL was sent that a process has outlived.
    std::optional<std::uint64_t> unkillableSince;
    bool unkillableInFuse = false; ///< that process waits for a file server that users run: nothing is wrong with the node
    std::optional<FinalFigures> figures;

    bool operator==(const JobRecord&) const = default;
};

/// Ends a suspension that is under way, and adds it to the total. False: the job is not suspended.
bool endSuspension(JobRecord& record, std::uint64_t now);

/// The record as one JSON document with a version. encode() of a decoded text gives the same text.
std::string encode(const JobRecord& record);
/// Reads what encode() wrote. Error: InvalidArgument for any other text, also for newer versions.
Result<JobRecord> decodeJobRecord(std::string_view text);

} // namespace pinfold
