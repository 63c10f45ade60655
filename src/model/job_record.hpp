// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
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

/// Identifies a process across a restart of pinfoldd. The process id alone is not enough, because another process may have the
/// same process id after the restart.
struct ProcessIdentity {
    pid_t pid = 0;
    BootTime started{};

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

/// Holds the figures that pinfoldd reads when the job's last process has ended. The cgroup may vanish long before pinfoldd
/// writes the receipt, so pinfoldd cannot read the figures later.
struct FinalFigures {
    RealTime ended{};    ///< when the job ended
    Microseconds wall{}; ///< wall time, by CLOCK_BOOTTIME
    Usage usage;         ///< without the figures that only live jobs have

    bool operator==(const FinalFigures&) const = default;
};

/// Holds all facts about a job that pinfoldd needs after a restart. Each record is stored in a small file of its own in the
/// runtime directory.
struct JobRecord {
    JobRecord(std::string jobId, std::string boot, JobKey jobKey)
        : id(std::move(jobId)), bootId(std::move(boot)), key(std::move(jobKey)) {}

    std::string id;
    std::string bootId; ///< the boot in which the job ran: /proc/sys/kernel/random/boot_id
    JobKey key;
    JobState state = JobState::Creating;
    uid_t uid = 0;
    RealTime created{};     ///< when the job was created
    BootTime createdBoot{}; ///< when the job was created
    ResourceLimits limits;
    std::vector<std::string> limitsNotEnforced; ///< names of the limits that the kernel does not enforce
    Allocation allocation;
    std::optional<uid_t> limitsForcedBy;    ///< the user who lowered a limit below what the job was using
    std::optional<BootTime> suspendedSince; ///< since when the job is suspended, or unset
    Microseconds suspended{};               ///< the time of earlier suspensions
    std::uint64_t oomKills = 0;             ///< how many kills because memory ran out pinfoldd has already looked into
    std::optional<OomVerdict> oom;          ///< the verdict on the first kill
    bool oomSaid = false;                   ///< the job's own output has a line about `oom`
    std::optional<ProcessIdentity> supervisor;
    /// If true, the owner made the batch script part of the job. In this case pinfoldd also accepts the owner's report on how
    /// the batch script ended. If false, pinfoldd accepts only the batch system's report on how the batch script ended.
    bool ownersBatch = false;
    std::map<std::uint32_t, TaskRecord> tasks; ///< task 0 is the batch script; a job that was opened may have no task 0
    /// For an opened job without a batch script: the time from the end of the last task to the end of the job.
    /// The value kForever means that the job never ends by itself.
    std::optional<Microseconds> linger;
    /// The time after the end of the leader within which the creator of the job will call EndJob. If unset,
    /// ReportWait decides how long pinfoldd waits for EndJob.
    std::optional<Microseconds> reportWithin;
    std::uint32_t nextTask = 1;
    bool neverRan = false; ///< creation failed after systemd had begun to start the job, so the job ends without a receipt

    // pinfoldd sets the following members when the end of the job begins:
    std::optional<JobResult> cause;
    ExitState exit;
    std::optional<uid_t> stoppedBy;
    std::optional<Microseconds> grace; ///< the grace time that StopJob asked for
    Leftovers leftovers;               ///< with the leftovers of tasks that ended earlier
    bool leftoversListed = false;      ///< `leftovers` has the leftovers of the job's own end
    /// When pinfoldd sent a SIGKILL that did not end all processes of the job (CLOCK_REALTIME).
    std::optional<RealTime> unkillableSince;
    bool unkillableInFuse = false; ///< the process that outlived SIGKILL waits for a file server that users run: nothing is wrong
                                   ///< with the node
    std::optional<FinalFigures> figures;

    bool operator==(const JobRecord&) const = default;
};

/// Ends the suspension of a job, and adds the time of the suspension to `suspended`. Returns false if the job is not suspended.
bool endSuspension(JobRecord& record, BootTime now);

/// Returns the record as one JSON document with a version. If pinfoldd decodes a record and encodes it again, the text is the
/// same as before.
std::string encode(const JobRecord& record);
/// Reads what encode() wrote. Error: InvalidArgument for any other text, and also for the record of a newer pinfoldd.
Result<JobRecord> decodeJobRecord(std::string_view text);

} // namespace pinfold
