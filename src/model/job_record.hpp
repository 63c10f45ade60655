// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/boxed.hpp"
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

/// Identifies a process across a restart of pinfoldd. The process id does not suffice, because a new process can get the process
/// id of a process that has ended.
struct ProcessIdentity {
    pid_t pid = 0;
    BootTime started{};

    bool operator==(const ProcessIdentity&) const = default;
};

/// Describes a live task. An adopted task has no leader, and ends when its scope is empty.
struct TaskRecord {
    std::optional<ProcessIdentity> leader = {};
    /// The supervisor of a task with a number above 0. JobRecord::supervisor is the supervisor of task 0.
    std::optional<ProcessIdentity> supervisor = {};
    bool shepherd = false;        ///< the leader is a program of the batch system, and starts the task's processes
    bool leftoversListed = false; ///< JobRecord::leftovers already contains the leftovers of the task's leader

    bool operator==(const TaskRecord&) const = default;
};

/// Describes a task for the job's receipt, while the job is live.
struct LoggedTask {
    /// The receipt of the task. While the task is live, the receipt has the figures that pinfoldd has read last, and the member
    /// `ended` has no meaning.
    TaskReceipt receipt = {};
    /// The leader's process id. A report on the exit state of a task must contain the process id of the task's leader. `leader`
    /// is 0 if the task has no leader.
    pid_t leader = 0;
    bool over = false; ///< no process of the task is left

    bool operator==(const LoggedTask&) const = default;
};

/// Holds the figures that pinfoldd reads when the job's last process has ended. pinfoldd stores FinalFigures in the record,
/// because the cgroup can vanish long before pinfoldd writes the receipt.
struct FinalFigures {
    RealTime ended{};    ///< the time at which the job ended
    Microseconds wall{}; ///< the job's wall time, measured with CLOCK_BOOTTIME
    Usage usage;         ///< the job's usage; figures that have a meaning only for a live job are unset
    /// The name of the job's owner, if the name service has answered by the job's end. After a restart, pinfoldd writes `user`
    /// into the receipt, and does not wait for the name service.
    std::optional<std::string> user = {};

    bool operator==(const FinalFigures&) const = default;
};

/// Holds all facts about a job that pinfoldd needs after a restart. Each record is stored in a small file of its own in the
/// runtime directory.
struct JobRecord {
    JobRecord(std::string jobId, std::string boot, JobKey jobKey)
        : id(std::move(jobId)), bootId(std::move(boot)), key(std::move(jobKey)) {}

    std::string id;
    std::string bootId; ///< the id of the boot in which the job ran (/proc/sys/kernel/random/boot_id)
    JobKey key;
    JobState state = JobState::Creating;
    uid_t uid = 0;
    RealTime created{};     ///< the time at which the job was created, on CLOCK_REALTIME
    BootTime createdBoot{}; ///< the time at which the job was created, on CLOCK_BOOTTIME
    ResourceLimits limits;
    std::vector<std::string> limitsNotEnforced; ///< the names of the limits that the kernel does not enforce
    Allocation allocation;
    std::optional<std::uint64_t> slots; ///< the number of slots that the batch system gave the job
    JobIdentity identity;
    std::optional<uid_t> limitsForcedBy;    ///< the user who lowered a limit below the job's use
    std::optional<BootTime> suspendedSince; ///< the time at which the present suspension began; unset if the job is not suspended
    Microseconds suspended{};               ///< the total time of earlier suspensions
    std::uint64_t oomKills = 0;             ///< the number of out-of-memory kills that pinfoldd has examined so far
    Boxed<OomVerdict> oom;                  ///< what pinfoldd knows about the first out-of-memory kill
    bool oomSaid = false;                   ///< the job's own output already has a line about the kill that `oom` describes
    std::optional<std::uint64_t> runTimeWarned; ///< the value that runTimeEnd() had when pinfoldd warned the job
    std::optional<std::uint64_t> memoryWarned;  ///< the value that memory_max had when pinfoldd warned the job
    std::optional<ProcessIdentity> supervisor;
    /// ownersBatch is true if an owner without admin rights added the batch script to the job. If ownersBatch is true, the owner
    /// and the batch system are allowed to report how the batch script ended. If ownersBatch is false, only the batch system is
    /// allowed to report how the batch script ended.
    bool ownersBatch = false;
    /// The tasks of the job, by number. Task 0 is the batch script. An opened job does not always have a task 0.
    std::map<std::uint32_t, TaskRecord> tasks;
    /// The live and ended tasks with the lowest numbers, at most TaskReceipt::kMost tasks. taskLog is empty if the job has had no
    /// task except its batch script. For a job with only a batch script, the figures of the job are the figures of the batch
    /// script.
    Boxed<std::vector<LoggedTask>> taskLog;
    /// An opened job without a batch script stays live for the time `linger` after the end of the job's last task. If `linger` is
    /// kForever, the job stays live after the end of all tasks.
    std::optional<Microseconds> linger;
    /// After the leader's end, pinfoldd expects a call of EndJob from the job's creator within the time reportWithin. If
    /// reportWithin is unset, ReportWait decides how long pinfoldd waits for EndJob.
    std::optional<Microseconds> reportWithin;
    std::uint32_t nextTask = 1;
    bool neverRan = false; ///< creation failed after systemd had begun to start the job, so the job ends without a receipt

    // pinfoldd sets the following members when the end of the job begins:
    std::optional<JobResult> cause;
    ExitState exit;
    std::optional<uid_t> stoppedBy;
    std::optional<Microseconds> grace; ///< the grace time in the request StopJob
    Leftovers leftovers;               ///< the job's leftovers, including the leftovers of tasks that ended before the job
    /// If leftoversListed is true, `leftovers` already contains the processes that were left at the end of the job.
    bool leftoversListed = false;
    /// The time (CLOCK_REALTIME) of a SIGKILL that did not end all processes of the job.
    std::optional<RealTime> unkillableSince;
    /// If unkillableInFuse is true, a process that outlived SIGKILL waits for a file server that a user runs. A wait for a user's
    /// file server is not a fault of the node.
    bool unkillableInFuse = false;
    /// pinfoldd copies `unkillableProcesses` to Receipt::unkillableProcesses. `unkillableProcesses` stays set after the
    /// unkillable processes have ended.
    std::optional<std::uint32_t> unkillableProcesses;
    Boxed<FinalFigures> figures;

    bool operator==(const JobRecord&) const = default;
};

/// Ends the suspension of a job, and adds the length of the suspension to `suspended`. Returns false if the job is not suspended.
bool endSuspension(JobRecord& record, BootTime now);

/// Returns the record as one JSON document. The member `version` is the version of the format. If pinfoldd decodes the document
/// and encodes the record again, the result is the same document.
std::string encode(const JobRecord& record);
/// Reads a text that encode() has written. Fails with InvalidArgument if encode() has not written the text. decodeJobRecord()
/// fails with InvalidArgument if a newer pinfoldd has written the record.
Result<JobRecord> decodeJobRecord(std::string_view text);

} // namespace pinfold
