// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "model/allocation.hpp"
#include "model/oom.hpp"
#include "model/resource_limits.hpp"
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
    Exited,         ///< the leader exited; the exit status may be unknown, because pinfoldd is not the leader's parent
    Signaled,       ///< a signal ended the leader
    Stopped,        ///< somebody asked for the job's end
    Timeout,        ///< the run time limit was over
    OutOfMemory,    ///< the kernel killed the job or its leader, because memory ran out
    SupervisorLost, ///< pinfold-run was killed
    NodeShutdown,   ///< somebody shut the node down in an orderly way while the job ran
    NodeLost,       ///< the node went down without a shutdown: a power cut, a reset or a crash
    Lost,           ///< the units vanished, and pinfoldd had not stopped them
};

std::string_view toString(JobResult result);
std::optional<JobResult> jobResultFromString(std::string_view text);
/// Returns the names of all results, in the order of the enumeration.
std::vector<std::string> jobResultNames();

/// Says how a process ended, with the information that wait(2) gives.
struct ExitState {
    std::optional<int> status; ///< the exit status, 0 to 255
    std::optional<int> signal; ///< the number of the signal, 1 to 64

    bool known() const { return status || signal; }
    bool operator==(const ExitState&) const = default;
};

/// Describes the processes that a job left behind.
struct Leftovers {
    /// A user can choose long command lines for processes, and these command lines get into records and receipts. The limits
    /// are necessary because all receipts are in one file, which must have room for the receipts of every user.
    static constexpr std::size_t kMostCommands = 256;
    static constexpr std::size_t kMostCommandBytes = 8192;

    std::uint32_t count = 0;
    Microseconds cpu{}; ///< CPU time (user and system) of all processes that pinfoldd could read
    std::vector<std::string> commands;

    /// Keeps only the first kMostCommands command lines. Together, the command lines may have at most kMostCommandBytes bytes.
    /// If the command lines are longer, boundCommands() shortens the longest command lines to the same length. The mark "…"
    /// shows that a command line was shortened.
    void boundCommands();

    bool operator==(const Leftovers&) const = default;
};

/// Calls f(name, member) for each member of a receipt or record that says how the job ended.
template <class R, class F> void forEachEndField(R& ended, F&& f) {
    f("exit_status", ended.exit.status);
    f("exit_signal", ended.exit.signal);
    f("stopped_by", ended.stoppedBy);
    f("leftovers", ended.leftovers.count);
    f("leftover_cpu", ended.leftovers.cpu);
    f("leftover_commands", ended.leftovers.commands);
}

/// Holds the information about a job that pinfoldd keeps after the end of the job.
struct Receipt {
    std::string id; ///< unique for ever, so that the history counts a job only once
    std::string key;
    uid_t uid = 0;
    RealTime started{};
    RealTime ended{};
    Microseconds wall{};      ///< by CLOCK_BOOTTIME
    Microseconds suspended{}; ///< the part of `wall` in which the job was suspended
    JobResult result = JobResult::Exited;
    ExitState exit;
    std::optional<uid_t> stoppedBy;
    std::uint32_t tasks = 1;
    Leftovers leftovers;
    Usage usage;
    std::optional<OomVerdict> oom;
    bool oomSaid = false;  ///< the job's own output already has a line about `oom`; not stored in the history
    std::string unwritten; ///< why the receipt is not in the history yet, or empty if it is or will be at once; not stored in the
                           ///< history
    ResourceLimits limits;
    std::vector<std::string> limitsNotEnforced; ///< names of the limits that the kernel did not enforce
    Allocation allocation;                      ///< the history does not store the reserved CPUs and the environment

    bool operator==(const Receipt&) const = default;
};

/// Calls f(name, member) for the members of the receipt itself. For the usage, the verdict, the limits and the allocation there
/// are similar functions. The names are the same as on D-Bus and in JSON.
template <class R, class F> void forEachReceiptField(R& receipt, F&& f) {
    f("id", receipt.id);
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
}

/// Says whether a job succeeded.
enum class JobOutcome {
    Failed = 0, ///< the job did not exit with status 0, or something else ended it
    Succeeded = 1,
    Unknown = 2, ///< the job ended by itself, and nobody has reported how it ended
};
JobOutcome outcomeOf(const Receipt& receipt);

/// Adds an exit state of the leader that was reported after the receipt was written. If the receipt has an exit state already,
/// or if `exit` is unknown, amend() returns false and changes nothing.
bool amend(Receipt& receipt, const ExitState& exit);

} // namespace pinfold
