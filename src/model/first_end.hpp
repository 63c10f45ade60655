// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds the event that ended a job of several hosts.
//
// EndSearch has no information except the receipts of the hosts. For four reasons, it is difficult to find the event that ended
// the job:
// - The clocks of the hosts differ. Two events on different hosts count as simultaneous if they are at most kClockTolerance
//   apart. The kind of each event, and not the clock, decides which of several simultaneous events ended the job.
// - In many cases, the task that ended first did not cause the end of the job. After the failure of a task, batch systems and MPI
//   libraries stop the job's other tasks with signals. If tasks lose the connection to a failed task, these tasks can fail, too.
//   EndSearch takes a killed task for the cause of the job's end only if no event of another kind was earlier or simultaneous.
// - The batch script of a job runs on one host. The receipts from all other hosts contain the exit status that the batch system
//   has reported for the whole job. On a host without the batch script, EndSearch uses the exit states of the tasks instead of
//   the exit status in the receipt.
// - A job can survive the end of a task. The batch script of a job can run many steps, and some of these steps can fail.
#pragma once

#include "base/clock.hpp"
#include "model/exit_state.hpp"
#include "model/receipt.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace pinfold {

/// The clocks of two hosts in a cluster differ by at most about 100 ms, even if only NTP sets the clocks.
constexpr Microseconds kClockTolerance = 500ms;

/// Says what ended a job or a task on a host.
enum class EndKind {
    OutOfMemory,    ///< a process was killed because memory ran out
    NodeLost,       ///< the host went down; `at` is the time of the last sign of life from the host
    NodeShutdown,   ///< somebody shut the host down
    TimeLimit,      ///< the job reached its limit run_time_max
    Stopped,        ///< somebody asked pinfoldd on the host to end the job
    SupervisorLost, ///< pinfold-run was killed
    UnitsLost,      ///< the units of the job vanished
    Crash,          ///< a signal such as SIGSEGV, which the kernel sends after a fault of the program, ended a task
    TaskFailed,     ///< a task failed with an exit status or SIGABRT, perhaps because of an event on another host
    BatchEnded,     ///< the batch script ended, with any exit state
    TaskKilled,     ///< a signal such as SIGTERM, which other processes send, ended a task
};

std::string_view toString(EndKind kind);

/// Returns true if events of the kind `kind` always have a local cause, and not the end of the job on another host.
bool isOfItself(EndKind kind);

struct EndEvent {
    EndKind kind = EndKind::BatchEnded;
    RealTime at{};                          ///< the time of the event, by the clock of the host
    std::size_t host = 0;                   ///< an index of HostsOfJob::hosts
    std::size_t receipt = 0;                ///< an index of HostOfJob::receipts
    std::optional<std::uint32_t> task = {}; ///< the number of the task; unset if the receipt does not show the task
    ExitState exit = {};                    ///< how the task ended; unknown if the event is not the end of a task
    bool decides = false;                   ///< the event certainly ended the job on the host

    bool operator==(const EndEvent&) const = default;
};

struct FirstEnd {
    std::optional<EndEvent> event; ///< the event that ended the job; unset if the receipts do not show the event
    /// Lists the hosts with an event that possibly happened before `event`. The list does not contain `event->host`. The clocks
    /// of the hosts are not exact enough to tell which event was the first (see kClockTolerance).
    std::vector<std::size_t> alike;
    /// The number of events that the job survived, such as failures of tasks. Events of the kind TaskKilled do not count.
    std::size_t survived = 0;
    std::optional<EndEvent> survivor; ///< the latest of the events that the job survived

    bool operator==(const FirstEnd&) const = default;
};

class EndSearch {
public:
    /// Adds the events in a receipt of the job to the search. add() stores `host` in EndEvent::host, and `index` in
    /// EndEvent::receipt.
    void add(const Receipt& receipt, std::size_t host, std::size_t index);
    FirstEnd first() const;
    const std::vector<EndEvent>& events() const { return events_; }

private:
    bool isSurvived(const EndEvent& event) const;
    bool batchSucceeded() const;

    std::vector<EndEvent> events_;
    RealTime lastStart_{};                ///< the time at which the last task of the job started
    std::optional<RealTime> batchOver_;   ///< the time at which the batch script ended by itself or for another reason
    std::optional<RealTime> batchExited_; ///< the time at which the batch script ended by itself, with an exit status
};

/// Returns the time at which the job's last process on the host ended. If the job has no batch script on the host, the job
/// stays live for a while after its last task. If the job stayed live after its last task, Receipt::ended is later than the end
/// of the last process.
RealTime processesEnded(const Receipt& receipt);

} // namespace pinfold
