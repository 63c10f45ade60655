// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/boxed.hpp"
#include "base/clock.hpp"
#include "model/allocation.hpp"
#include "model/exit_state.hpp"
#include "model/job_identity.hpp"
#include "model/oom.hpp"
#include "model/resource_limits.hpp"
#include "model/task_receipt.hpp"
#include "model/usage.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Says why a job ended.
enum class JobResult {
    Exited,         ///< the leader exited; pinfoldd possibly does not know the exit status
    Signaled,       ///< a signal ended the leader
    Stopped,        ///< a user or the batch system told pinfoldd to end the job
    Timeout,        ///< the job ran longer than its run time limit
    OutOfMemory,    ///< the kernel killed the job or its leader, because memory ran out
    SupervisorLost, ///< pinfold-run was killed
    NodeShutdown,   ///< somebody shut the node down in an orderly way while the job ran
    NodeLost,       ///< the node went down without a shutdown, because of a power cut, a reset or a crash
    Lost,           ///< the units of the job vanished, although pinfoldd had not stopped them
};

std::string_view toString(JobResult result);
std::optional<JobResult> jobResultFromString(std::string_view text);
/// Returns the names of all results, in the order of the enumeration.
std::vector<std::string> jobResultNames();

/// Describes the processes that a job left behind.
struct Leftovers {
    /// Users can start processes with long command lines, and pinfoldd writes the command lines to records and receipts.
    /// Without kMostCommands and kMostCommandBytes, one user's command lines could fill the history of all users.
    static constexpr std::size_t kMostCommands = 256;
    static constexpr std::size_t kMostCommandBytes = 8192;

    std::uint32_t count = 0;
    Microseconds cpu{}; ///< the CPU time (user and system) of all leftovers that pinfoldd could read
    std::vector<std::string> commands;

    /// Keeps only the first kMostCommands command lines. If all command lines together have more than kMostCommandBytes bytes,
    /// boundCommands() shortens the longest command lines. The mark "…" shows that a command line was shortened.
    void boundCommands();

    bool operator==(const Leftovers&) const = default;
};

/// Calls f(name, member) for each member of `ended` that describes the end of the job. A receipt and a record describe the end of
/// the job with the same members.
template <class R, class F> void forEachEndField(R& ended, F&& f) {
    f("exit_status", ended.exit.status);
    f("exit_signal", ended.exit.signal);
    f("stopped_by", ended.stoppedBy);
    f("leftovers", ended.leftovers.count);
    f("leftover_cpu", ended.leftovers.cpu);
    f("leftover_commands", ended.leftovers.commands);
    f("unkillable_processes", ended.unkillableProcesses);
}

/// Says where a job ran. An earlier pinfold wrote receipts in which all members of Origin are unset.
struct Origin {
    std::optional<std::string> host;    ///< the name of the node at the job's end
    std::optional<std::string> bootId;  ///< the boot in which the job ran: /proc/sys/kernel/random/boot_id
    std::optional<std::string> cluster; ///< the setting daemon.cluster
    std::optional<std::string> user;    ///< the owner's name at the job's end; unset if the user database has no name
    std::optional<std::string> version; ///< the version of pinfoldd that made the receipt

    bool operator==(const Origin&) const = default;
};

/// After the end of a job, pinfoldd keeps a Receipt with the facts about the job.
struct Receipt {
    std::string id; ///< the id of the job; two jobs never have the same id
    /// The number of the receipt in the history; the first receipt of a history has the number 1. The numbers of the receipts in
    /// a history have no gaps, and the history never reuses a number. `sequence` is unset until the receipt is in the history.
    std::optional<std::uint64_t> sequence;
    /// Each history has a random name. `epoch` is the name of the history that contains the receipt. If the file of the history
    /// is lost, the new history gets a new name.
    std::optional<std::string> epoch;
    Origin origin;
    std::string key;
    uid_t uid = 0;
    RealTime started{};
    RealTime ended{};
    Microseconds wall{};      ///< the run time of the job, measured with CLOCK_BOOTTIME
    Microseconds suspended{}; ///< the part of `wall` in which the job was suspended
    JobResult result = JobResult::Exited;
    ExitState exit;
    std::optional<uid_t> stoppedBy;
    std::uint32_t tasks = 1;
    Leftovers leftovers;
    /// The highest number of unkillable processes that pinfoldd has reported for the job. A process is unkillable if SIGKILL
    /// did not end the process. unkillableProcesses is unset if pinfoldd has never reported an unkillable process of the job.
    std::optional<std::uint32_t> unkillableProcesses;
    Usage usage;
    Boxed<OomVerdict> oom;
    /// True if the job's own output already has a line about the kill that `oom` describes. The history does not store oomSaid.
    bool oomSaid = false;
    /// True if the job's own output already has the line from stopLine(); the history does not store stopSaid.
    bool stopSaid = false;
    /// Says why the receipt is not in the history yet. `unwritten` is empty if the receipt is in the history, or if pinfoldd will
    /// soon write the receipt to the history. The history does not store `unwritten`.
    std::string unwritten;
    ResourceLimits limits;
    std::vector<std::string> limitsNotEnforced; ///< the names of the limits that the kernel did not enforce
    Allocation allocation; ///< the CPUs and GPUs of the job; the history stores neither the reserved CPUs nor the environment
    std::optional<std::uint64_t> slots; ///< the number of slots that the batch system gave the job
    JobIdentity identity;
    /// The first TaskReceipt::kMost tasks of the job, in the order of their numbers. `taskList` is empty if an earlier pinfold
    /// wrote the receipt, or if the node went down.
    std::vector<TaskReceipt> taskList;
    /// The job's resource use over time, in the form that encode(Profile) writes. `profile` is empty if the job has no profile.
    /// The history has a separate table for profiles. list() reads the table for profiles only if ReceiptFilter::profiles is
    /// set.
    std::string profile;

    bool operator==(const Receipt&) const = default;
};

/// Calls f(name, member) for each member of Receipt that is not a nested structure. forEachUsage() and similar functions visit
/// the members of the nested structures in a Receipt. D-Bus and JSON use the names from forEachReceiptField().
template <class R, class F> void forEachReceiptField(R& receipt, F&& f) {
    f("id", receipt.id);
    f("sequence", receipt.sequence);
    f("epoch", receipt.epoch);
    f("host", receipt.origin.host);
    f("boot_id", receipt.origin.bootId);
    f("cluster", receipt.origin.cluster);
    f("user", receipt.origin.user);
    f("version", receipt.origin.version);
    f("key", receipt.key);
    f("uid", receipt.uid);
    f("started", receipt.started);
    f("ended", receipt.ended);
    f("wall", receipt.wall);
    f("suspended", receipt.suspended);
    f("result", receipt.result);
    f("tasks", receipt.tasks);
    forEachEndField(receipt, f);
    f("limits_not_enforced", receipt.limitsNotEnforced);
    f("slots", receipt.slots);
}

/// Returns the task receipt of the batch script. Call onlyTask() only for a job whose only task was the batch script. onlyTask()
/// copies the figures of the job, because the figures of the job and of the batch script are the same.
TaskReceipt onlyTask(const Receipt& receipt, std::string command);

/// Says whether a job succeeded.
enum class JobOutcome {
    Failed = 0, ///< the job did not exit with status 0, or something other than the job itself ended the job
    Succeeded = 1,
    Unknown = 2, ///< the job ended by itself, and nobody has reported how the job ended
};
JobOutcome outcomeOf(const Receipt& receipt);

/// Adds the exit state of the leader and the facts in `identity` to a receipt. Call amend() if pinfoldd has already written the
/// receipt when somebody reports the exit state or the facts. amend() adds only what the receipt does not have, and replaces
/// nothing. An admin can add facts about the job even if the owner has already reported an exit state. Returns false if amend()
/// added nothing. If `identity.run` and `receipt.identity.run` are set and differ, amend() adds nothing.
bool amend(Receipt& receipt, const ExitState& exit, const JobIdentity& identity = {});

} // namespace pinfold
