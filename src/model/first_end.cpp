// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/first_end.hpp"

#include "base/enum_names.hpp"

#include <algorithm>
#include <csignal>
#include <tuple>

namespace pinfold {
namespace {

constexpr auto kEndKindNames = enumNames<EndKind>({
    {EndKind::OutOfMemory, "out-of-memory"},
    {EndKind::NodeLost, "node-lost"},
    {EndKind::NodeShutdown, "node-shutdown"},
    {EndKind::TimeLimit, "timeout"},
    {EndKind::Stopped, "stopped"},
    {EndKind::SupervisorLost, "supervisor-lost"},
    {EndKind::UnitsLost, "lost"},
    {EndKind::Crash, "task-crashed"},
    {EndKind::TaskFailed, "task-failed"},
    {EndKind::BatchEnded, "batch-ended"},
    {EndKind::TaskKilled, "task-killed"},
});

// After the failure of a task, the other tasks and the batch script of the job end within the time kConsequence. Between
// SIGTERM and SIGKILL, Slurm waits longer than other batch systems, because its KillWait is usually 30 s.
constexpr Microseconds kConsequence = 60s;
// A step that runs on thousands of hosts needs some seconds to start. A task of a step can start although another task of the
// same step has failed already.
constexpr Microseconds kStartOfStep = 10s;
constexpr int kSignalled = 128; // if a signal ends the command of a shell, the shell exits with 128 plus the number of the signal
constexpr int kMostSignals = 64;

struct Candidate {
    EndEvent event;
    RealTime at; ///< EndSearch sorts the events by this time
};

/// Returns true if `time` is later than `other` by more than `tolerance`. The default of `tolerance` is the greatest difference
/// that EndSearch expects between the clocks of two hosts.
bool isLater(RealTime time, RealTime other, Microseconds tolerance = kClockTolerance) {
    return timeBetween(other, time) > tolerance;
}

/// Says how certain it is that the event ended the whole job. The most certain events have the result 0. Less certain events have
/// higher results.
int strength(const EndEvent& event) {
    switch (event.kind) {
    case EndKind::BatchEnded: // only the batch system, or a person, sends a signal to the batch script
        return event.exit.signal ? 1 : 3;
    case EndKind::TaskFailed:
        return 2;
    case EndKind::TaskKilled:
        return 4;
    default:
        return 0;
    }
}

auto order(const Candidate& candidate) {
    const auto& event = candidate.event;
    return std::tuple(strength(event), candidate.at, event.kind, event.host, event.receipt, event.task);
}

bool hasFailed(const ExitState& exit) { return exit.signal || exit.status.value_or(0) != 0; }

EndKind kindOf(const ExitState& exit) {
    const auto status = exit.status.value_or(0);
    const bool reported = status > kSignalled && status <= kSignalled + kMostSignals;
    switch (exit.signal.value_or(reported ? status - kSignalled : 0)) {
    case 0:
    case SIGABRT: // MPI libraries abort a task when another task has failed
        return EndKind::TaskFailed;
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGSYS:
    case SIGTRAP:
    case SIGXCPU:
    case SIGXFSZ:
        return EndKind::Crash;
    default:
        return EndKind::TaskKilled;
    }
}

/// Estimates the time at which the end of the job began on the host. `receipt.ended` is the time at which the last process
/// ended. Because of the kill grace, the last process can end long after the first process. pinfoldd stops all tasks of a job
/// at the same time. If tasks failed shortly before the end of the job, begun() returns the time of the first failure.
RealTime begun(const Receipt& receipt) {
    auto at = receipt.ended;
    for (const auto& task : receipt.taskList)
        if (task.kind != TaskKind::Login && hasFailed(task.exit) && !isLater(receipt.ended, task.ended, kConsequence))
            at = std::min(at, task.ended);
    return at;
}

RealTime limitReached(const Receipt& receipt) {
    const auto limit = timeLimit(receipt.limits.runTimeMax);
    const auto ran = receipt.wall - std::min(receipt.suspended, receipt.wall);
    if (!limit || *limit > ran)
        return begun(receipt);
    return receipt.ended - std::min(ran - *limit, receipt.ended.time_since_epoch());
}

/// Returns the time at which memory ran out. A job can survive an out-of-memory kill. If memory ran out several times, the
/// receipt describes only the first kill.
RealTime killed(const Receipt& receipt) {
    if (receipt.result == JobResult::OutOfMemory && isLater(receipt.ended, receipt.oom->at, kConsequence))
        return begun(receipt);
    return std::clamp(receipt.oom->at, std::min(receipt.started, receipt.ended), receipt.ended);
}

/// Returns the number of the task in which a process was killed because memory ran out. Returns nullopt if the job had several
/// tasks, and the receipt does not show the task of the killed process.
std::optional<std::uint32_t> killedTask(const Receipt& receipt) {
    std::vector<const TaskReceipt*> tasks;
    for (const auto& task : receipt.taskList)
        if (task.kind != TaskKind::Login && hasFailed(task.exit) && (!receipt.oom || !isLater(receipt.oom->at, task.ended)))
            tasks.push_back(&task);
    const auto victim = receipt.oom ? receipt.oom->victimName : std::nullopt;
    if (tasks.size() > 1 && victim)
        std::erase_if(tasks, [&](const TaskReceipt* task) { return task->command != *victim; });
    return tasks.size() == 1 ? std::optional(tasks.front()->number) : std::nullopt;
}

std::optional<RealTime> earliest(const std::vector<Candidate>& candidates, bool killed) {
    std::optional<RealTime> at;
    for (const auto& [event, time] : candidates)
        if ((event.kind == EndKind::TaskKilled) == killed)
            at = std::min(at.value_or(time), time);
    return at;
}

/// A lost host went down at an unknown time after its last sign of life. placeLostNodes() uses the time of the earliest event
/// after the last sign of life as the time of the loss.
void placeLostNodes(std::vector<Candidate>& candidates) {
    std::vector<RealTime> others;
    for (const auto& candidate : candidates)
        if (candidate.event.kind != EndKind::NodeLost)
            others.push_back(candidate.at);
    std::ranges::sort(others);
    for (auto& candidate : candidates) {
        const auto next = std::ranges::lower_bound(others, candidate.at);
        if (candidate.event.kind == EndKind::NodeLost && next != others.end())
            candidate.at = *next;
    }
}

/// Returns candidates that are at most kClockTolerance later than `begin`. If `killed` is true, the result contains only
/// candidates of the kind TaskKilled. If `killed` is false, the result contains no candidates of the kind TaskKilled. `begin` is
/// the time of the earliest candidate of the wanted kind.
std::vector<Candidate> simultaneous(const std::vector<Candidate>& candidates, bool killed, RealTime begin) {
    std::vector<Candidate> found;
    for (const auto& candidate : candidates)
        if ((candidate.event.kind == EndKind::TaskKilled) == killed && !isLater(candidate.at, begin))
            found.push_back(candidate);
    return found;
}

void choose(const std::vector<Candidate>& candidates, FirstEnd& found) {
    const auto own = earliest(candidates, false);
    const auto killed = earliest(candidates, true);
    const bool onlyKilled = killed && (!own || isLater(*own, *killed));
    if (!own && !killed)
        return;
    const auto window = simultaneous(candidates, onlyKilled, onlyKilled ? *killed : *own);
    const auto best = std::ranges::min_element(window, {}, order);
    found.event = best->event;
    for (const auto& [event, at] : window)
        if (event.host != best->event.host && strength(event) == strength(best->event))
            found.alike.push_back(event.host);
    std::ranges::sort(found.alike);
    found.alike.erase(std::unique(found.alike.begin(), found.alike.end()), found.alike.end());
}

} // namespace

std::string_view toString(EndKind kind) { return kEndKindNames[kind]; }

bool isOfItself(EndKind kind) { return kind <= EndKind::Crash; }

RealTime processesEnded(const Receipt& receipt) {
    const auto& tasks = receipt.taskList;
    const bool isBatchHost = std::ranges::any_of(tasks, [](const auto& task) { return task.kind == TaskKind::Batch; });
    if (tasks.empty() || isBatchHost || receipt.tasks > tasks.size())
        return receipt.ended;
    return std::min(receipt.ended, std::ranges::max(tasks, {}, &TaskReceipt::ended).ended);
}

void EndSearch::add(const Receipt& receipt, std::size_t host, std::size_t index) {
    const auto note = [&](EndEvent event) {
        event.host = host;
        event.receipt = index;
        events_.push_back(event);
    };
    const auto decided = [&](EndKind kind, RealTime at) { note({.kind = kind, .at = at, .decides = true}); };
    lastStart_ = std::max(lastStart_, receipt.started);
    const bool endedAlone = receipt.result == JobResult::Exited || receipt.result == JobResult::Signaled;
    for (const auto& task : receipt.taskList) {
        if (task.kind == TaskKind::Login)
            continue;
        lastStart_ = std::max(lastStart_, task.started);
        if (task.kind == TaskKind::Batch) {
            batchOver_ = std::max(batchOver_.value_or(task.ended), task.ended);
            if (endedAlone && receipt.exit.status)
                batchExited_ = std::max(batchExited_.value_or(task.ended), task.ended);
            if (endedAlone)
                note({.kind = EndKind::BatchEnded, .at = task.ended, .task = task.number, .exit = receipt.exit, .decides = true});
        } else if (hasFailed(task.exit)) {
            note({.kind = kindOf(task.exit), .at = task.ended, .task = task.number, .exit = task.exit});
        }
    }
    if (receipt.oom)
        note({.kind = EndKind::OutOfMemory,
              .at = killed(receipt),
              .task = killedTask(receipt),
              .decides = receipt.result == JobResult::OutOfMemory});
    switch (receipt.result) {
    case JobResult::Exited:
    case JobResult::Signaled:
        if (receipt.taskList.empty() && receipt.exit.known()) // receipts of an earlier pinfold do not list tasks
            note({.kind = EndKind::BatchEnded, .at = receipt.ended, .exit = receipt.exit, .decides = true});
        break;
    case JobResult::Stopped:
        return decided(EndKind::Stopped, begun(receipt));
    case JobResult::Timeout:
        return decided(EndKind::TimeLimit, limitReached(receipt));
    case JobResult::OutOfMemory:
        if (!receipt.oom)
            note({.kind = EndKind::OutOfMemory, .at = begun(receipt), .task = killedTask(receipt), .decides = true});
        break;
    case JobResult::SupervisorLost:
        return decided(EndKind::SupervisorLost, begun(receipt));
    case JobResult::NodeShutdown:
        return decided(EndKind::NodeShutdown, begun(receipt));
    case JobResult::NodeLost:
        return decided(EndKind::NodeLost, receipt.ended);
    case JobResult::Lost:
        return decided(EndKind::UnitsLost, begun(receipt));
    }
}

bool EndSearch::batchSucceeded() const {
    return std::ranges::any_of(events_, [](const EndEvent& event) {
        return event.kind == EndKind::BatchEnded && !hasFailed(event.exit) && event.exit.known();
    });
}

bool EndSearch::isSurvived(const EndEvent& event) const {
    if (!event.decides)
        return isLater(lastStart_, event.at, kStartOfStep) || (batchOver_ && isLater(*batchOver_, event.at, kConsequence));
    // If the batch script exits by itself long after an event ended the job on one host, the job did not need this host. After
    // the loss of a host, the batch script can continue for a long time although the job needed the host. The batch system can
    // notice the loss of a host late.
    return isOfItself(event.kind) && event.kind != EndKind::NodeLost && batchExited_ &&
           isLater(*batchExited_, event.at, kConsequence);
}

FirstEnd EndSearch::first() const {
    FirstEnd found;
    std::vector<Candidate> candidates;
    const bool succeeded = batchSucceeded();
    const bool batchKnown = std::ranges::any_of(events_, [](const EndEvent& event) { return event.kind == EndKind::BatchEnded; });
    const auto isNewer = [&found](const EndEvent& event) {
        const auto& last = found.survivor;
        return !last || std::tuple(last->at, last->host, last->receipt, last->task) <
                            std::tuple(event.at, event.host, event.receipt, event.task);
    };
    for (const auto& event : events_) {
        // The batch script can ignore the failure of a task. The batch script can ignore the loss of a host if no task of the job
        // needs the host any more.
        const bool excused = succeeded && event.kind == EndKind::TaskFailed;
        if (event.kind != EndKind::TaskKilled && (excused || isSurvived(event))) {
            ++found.survived;
            if (isNewer(event))
                found.survivor = event;
        } else if (!isSurvived(event) && !(succeeded && event.kind == EndKind::NodeLost) &&
                   !(batchKnown && event.kind == EndKind::TaskKilled)) {
            candidates.push_back({.event = event, .at = event.at});
        }
    }
    placeLostNodes(candidates);
    choose(candidates, found);
    return found;
}

} // namespace pinfold
