// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/allocation.hpp"
#include "model/oom.hpp"
#include "model/resource_limits.hpp"
#include "model/usage.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Why a job ended.
enum class JobResult {
    Exited,         ///< the leader exited; the status may be unknown, since pinfoldd is not the leader's parent
    Signaled,       ///< a signal ended the leader
    Stopped,        ///< somebody asked for the end
    Timeout,        ///< the run time limit was over
    OutOfMemory,    ///< the job, or its leader, was killed because memory ran out
    SupervisorLost, ///< pinfold-run was killed
    NodeShutdown,   ///< the node was shut down in an orderly way while the job ran
    NodeLost,       ///< the node went down without a shutdown: a power cut, a reset or a crash
    Lost,           ///< the units vanished without pinfoldd's doing
};

std::string_view toString(JobResult result);
std::optional<JobResult> jobResultFromString(std::string_view text);
/// The names of all results, in the order of the enumeration.
std::vector<std::string> jobResultNames();

/// How a process ended, as wait(2) tells it.
struct ExitState {
    std::optional<int> status; ///< 0 to 255
    std::optional<int> signal; ///< 1 to 64

    bool known() const { return status || signal; }
    bool operator==(const ExitState&) const = default;
};

/// The processes that a job left behind.
struct Leftovers {
    /// Limits on what a user can write into a record or a receipt by the names of processes. One file has all receipts, and each
    /// user's receipts must find room in it.
    static constexpr std::size_t kMostCommands = 256;
    static constexpr std::size_t kMostCommandBytes = 8192;

    std::uint32_t count = 0;
    std::uint64_t cpu = 0; ///< microseconds, user and system, of all processes that could be read
    std::vector<std::string> commands;

    /// Keeps the first kMostCommands, and kMostCommandBytes of them together. It cuts the longest to the same length, and "…"
    /// marks the cut.
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

/// What is kept of a job that is over. Times are CLOCK_REALTIME microseconds.
struct Receipt {
    std::string id; ///< unique for ever, so that the history never counts a job twice
    std::string key;
    std::uint32_t uid = 0;
    std::uint64_t started = 0;
    std::uint64_t ended = 0;
    std::uint64_t wall = 0;      ///< microseconds, by CLOCK_BOOTTIME
    std::uint64_t suspended = 0; ///< microseconds of `wall`
    JobResult result = JobResult::Exited;
    ExitState exit;
    std::optional<std::uint32_t> stoppedBy;
    std::uint32_t tasks = 1;
    Leftovers leftovers;
    Usage usage;
    std::optional<OomVerdict> oom;
    bool oomSaid = false;  ///< the job's own output had a line about `oom` at once; not stored
    std::string unwritten; ///< why the receipt is not in the history yet; empty: it is, or will be at once; not stored
    ResourceLimits limits;
    std::vector<std::string> limitsNotEnforced; ///< names of the limits that the kernel did not enforce
    Allocation allocation;                      ///< reserved CPUs and environment are not stored

    bool operator==(const Receipt&) const = default;
};

/// Calls f(name, member) for each member of its own; usage, verdict, limits and allocation have functions of this kind
/// themselves. D-Bus and JSON have the same names.
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

/// Whether a job succeeded.
enum class JobOutcome {
    Failed = 0, ///< the job did not exit with status 0, or something else ended it
    Succeeded = 1,
    Unknown = 2, ///< the job ended by itself, and nobody has reported how
};
JobOutcome outcomeOf(const Receipt& receipt);

/// Adds how the leader ended, when somebody reports this after the receipt was written. False: the receipt has this already, and
/// is not changed.
bool amend(Receipt& receipt, const ExitState& exit);

} // namespace pinfold
