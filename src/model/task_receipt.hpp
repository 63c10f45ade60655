// SPDX-License-Identifier: LGPL-2.1-or-later
// Describes one task of a job in the job's receipt.
#pragma once

#include "base/clock.hpp"
#include "model/exit_state.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

enum class TaskKind {
    Batch, ///< the job's batch script, which is task 0
    Task,  ///< a task other than the batch script, or a group of processes that somebody moved into the job
    Login, ///< a login on the node; pam_pinfold moved the process of the login into the job
};

std::string_view toString(TaskKind kind);
std::optional<TaskKind> taskKindFromString(std::string_view text);

struct TaskReceipt {
    /// The maximum number of tasks in a receipt. A job's record contains the list of tasks. pinfoldd writes the record each time
    /// a task of the job starts or ends. Without kMost, a job with thousands of short tasks would make the record large and each
    /// write slow.
    static constexpr std::size_t kMost = 64;

    std::uint32_t number = 0;
    TaskKind kind = TaskKind::Task;
    /// The name of the leader's program (comm, see proc(5)), made printable; empty if the name is not known.
    std::string command = {};
    RealTime started{};
    RealTime ended{};                             ///< the time at which the last process of the task ended
    ExitState exit = {};                          ///< how the leader of the task ended
    std::optional<Microseconds> cpu = {};         ///< the CPU time, user and system
    std::optional<std::uint64_t> memoryPeak = {}; ///< the highest memory use with page cache, in bytes
    /// If `exact` is true, `cpu` and `memoryPeak` are the final figures of the whole task. If `exact` is false, systemd removed
    /// the task's counters before pinfoldd could read the final figures. If `exact` is false, `cpu` and `memoryPeak` are from an
    /// earlier time, or are unset.
    bool exact = false;

    bool operator==(const TaskReceipt&) const = default;
};

/// Calls f(name, member) for each member of `task`. Records and JSON use the names from forEachTaskField().
template <class T, class F> void forEachTaskField(T& task, F&& f) {
    f("number", task.number);
    f("kind", task.kind);
    f("command", task.command);
    f("started", task.started);
    f("ended", task.ended);
    f("exit_status", task.exit.status);
    f("exit_signal", task.exit.signal);
    f("cpu", task.cpu);
    f("memory_peak", task.memoryPeak);
    f("exact", task.exact);
}

} // namespace pinfold
