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

/// Identifies a process across a restart of pinfoldd. The pid alone is not enough, because it could belong to another process by
/// then.
struct ProcessIdentity {
    pid_t pid = 0;
    std::uint64_t started = 0; ///< microseconds after boot

    bool operator==(const ProcessIdentity&) const = default;
};

/// Describes a live task. An adopted task has no leader, and ends when its scope is empty.
struct TaskRecord {
    std::optional<ProcessIdentity> leader = {};
    std::optional<ProcessIdentity> supervisor = {}; ///< the supervisor of a further task; for the supervisor of task 0 see
                                                    ///< JobRecord
    bool shepherd = false;                          ///< the leader is the batch system's own process above the task
    bool leftoversListed = false;                   ///< the job's record has the leftovers of the task's leader

    bool operator==(const TaskRecord&) const = default;
};

/// Holds the figures that pinfoldd notes when a job has run empty, because the cgroup may vanish long before pinfoldd writes the
/// receipt.
struct FinalFigures {
    std::uint64_t ended = 0; ///< when the job ended (CLOCK_REALTIME, microseconds)
    std::uint64_t wall = 0;  ///< wall time in microseconds, by CLOCK_BOOTTIME
    Usage usage;             ///< without the figures that only live jobs have

    bool operator==(const FinalFigures&) const = default;
};

/// Holds all that a restarted pinfoldd needs to know of a job. A small file in the runtime directory has the record of one job.
struct JobRecord {
    JobRecord(std::string jobId, std::string boot, JobKey jobKey)
        : id(std::move(jobId)), bootId(std::move(boot)), key(std::move(jobKey)) {}

    std::string id;
    std::string bootId; ///< the boot in which the job ran: /proc/sys/kernel/random/boot_id
    JobKey key;
    JobState state = JobState::Creating;
    std::uint32_t uid = 0;
    std::uint64_t created = 0;     ///< when the job was created (CLOCK_REALTIME, microseconds)
    std::uint64_t createdBoot = 0; ///< when the job was created (CLOCK_BOOTTIME, microseconds)
    ResourceLimits limits;
    std::vector<std::string> limitsNotEnforced; ///< names of the limits that the kernel does not enforce
    Allocation allocation;
    std::optional<std::uint32_t> limitsForcedBy; ///< the user who lowered a limit below what the job was using
    std::optional<std::uint64_t> suspendedSince; ///< since when the job has been suspended (CLOCK_BOOTTIME, microseconds); unset
                                                 ///< if it is not suspended
    std::uint64_t suspended = 0;                 ///< microseconds of earlier suspensions
    std::uint64_t oomKills = 0;                  ///< how many kills because memory ran out pinfoldd has already looked into
    std::optional<OomVerdict> oom;               ///< the verdict on the first kill
    bool oomSaid = false;                        ///< the job's own output has a line about `oom`
    std::optional<ProcessIdentity> supervisor;
    /// If true, the owner made the batch script part of the job, and so the owner may say how the batch script ended. If false,
    /// only the batch system may say that.
    bool ownersBatch = false;
    std::map<std::uint32_t, TaskRecord> tasks; ///< task 0 is the batch script; a job that was opened may have no task 0
    /// For a job that was opened and has no batch script: how many microseconds the job outlives its last task. kInfinity means
    /// for ever.
    std::optional<std::uint64_t> linger;
    /// The caller that made the job will call EndJob within this many microseconds after the end of the leader. If unset,
    /// ReportWait decides how long pinfoldd waits for EndJob.
    std::optional<std::uint64_t> reportWithin;
    std::uint32_t nextTask = 1;
    bool neverRan = false; ///< creation failed after systemd had begun to start the job, so the job ends without a receipt

    // The following members are set from the moment when the end began:
    std::optional<JobResult> cause;
    ExitState exit;
    std::optional<std::uint32_t> stoppedBy;
    std::optional<std::uint64_t> grace; ///< the grace time that StopJob asked for, in microseconds
    Leftovers leftovers;                ///< with the leftovers of tasks that ended earlier
    bool leftoversListed = false;       ///< `leftovers` has the leftovers of the job's own end
    /// The time when pinfoldd sent the SIGKILL that a process has outlived (CLOCK_REALTIME, microseconds).
    std::optional<std::uint64_t> unkillableSince;
    bool unkillableInFuse = false; ///< the process that outlived SIGKILL waits for a file server that users run: nothing is wrong
                                   ///< with the node
    std::optional<FinalFigures> figures;

    bool operator==(const JobRecord&) const = default;
};

/// Ends a suspension, and adds its time to `suspended`. Returns false if the job is not suspended.
bool endSuspension(JobRecord& record, std::uint64_t now);

/// Returns the record as one JSON document with a version. If pinfoldd decodes a text and encodes the result, it gets the same
/// text.
std::string encode(const JobRecord& record);
/// Reads what encode() wrote. Error: InvalidArgument for any other text, and for newer versions too.
Result<JobRecord> decodeJobRecord(std::string_view text);

} // namespace pinfold
