// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/start/scope_starter.hpp"

#include "core/report/events.hpp"

#include <fmt/core.h>

#include <malloc.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace pinfold {
namespace {

// PID 1 can lose calls while it re-executes itself (`systemctl daemon-reexec`). PID 1 needs about 0.4 s to re-execute itself, and
// can re-execute itself several times in a row.
constexpr ScopeStarter::Patience kAnswerLost{300ms, 45s, true};
// When a unit has ended, its name stays in use until PID 1 is idle for a moment.
constexpr ScopeStarter::Patience kNameTaken{50ms, 1s, false};

Error systemdFailed(const std::string& unit, const std::string& words) {
    return {ErrorCode::SystemdFailed, fmt::format("systemd did not start {}: {}", unit, words)};
}

Error tooLate(const JobKey& key) {
    return {ErrorCode::JobEnding, fmt::format("job '{}' ended before this process was part of it", key.text())};
}

constexpr std::size_t kBurst = 64;

void append(std::vector<std::string>& all, std::vector<std::string> more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

} // namespace

struct ScopeStarter::Moves {
    Result<void> result;               ///< the outcome of the moves; if a process was not moved, the error says why
    std::vector<std::string> troubles; ///< warnings about processes that pinfoldd has moved by mistake
};

struct ScopeStarter::Attempt {
    Attempt(JobPtr jobArg, Request requestArg, Callbacks callbacksArg, BootTime now)
        : job(std::move(jobArg)), request(std::move(requestArg)), callbacks(std::move(callbacksArg)),
          processes(std::make_shared<std::vector<Newcomer>>(std::move(request.processes))), since(now) {}
    JobPtr job;
    Request request;
    Callbacks callbacks;
    std::shared_ptr<const std::vector<Newcomer>> processes; ///< the list is shared with the threads that move the processes
    BootTime since;                                         ///< the time at which ScopeStarter began to start the scope
    bool begun = false;                                     ///< systemd has begun to create the units (Outcome::begun)
    bool lost = false; ///< the answer to a call was lost, and the call is possibly still in PID 1's queue
    /// ScopeStarter keeps the placeholders of earlier tries, because a call in PID 1's queue can contain the process ids of these
    /// placeholders.
    std::vector<pid_t> placeholders;

    const JobKey& key() const { return job->key(); }
    std::string unit() const { return processes->empty() ? key().sliceName() : key().scopeName(request.task); }
    bool needsPlaceholder() const {
        return std::any_of(processes->begin(), processes->end(), [](const Newcomer& process) { return !process.isRoots; });
    }
    void tell(Result<void> result) { std::exchange(callbacks, {}).done({.result = std::move(result), .begun = begun}); }
};

void ScopeStarter::start(const JobPtr& job, Request request, Callbacks callbacks) {
    if (request.withSlice && !request.mayBeThere) {
        // systemd 252 does not remove the cgroup of a job's slice if a process of the job survives SIGKILL. A new job that gets
        // the earlier job's cgroup would inherit the counters of the earlier job.
        const auto path = slicePath(job->key());
        if (context_.cgroups.exists(path) && context_.cgroups.children(path).empty())
            // If a process still uses the cgroup, remove() fails, and the start of the scope fails, too.
            (void)context_.cgroups.remove(path);
    }
    highest_ = std::max(highest_, ++inFlight_);
    const auto since = context_.loop.bootTime();
    callbacks.done = [this, since, done = std::move(callbacks.done)](const Outcome& outcome) {
        if (outcome.result)
            context_.metrics.scopeStarted(context_.loop.bootTime() - since);
        done(outcome);
        finished();
    };
    auto attempt = std::make_shared<Attempt>(job, std::move(request), std::move(callbacks), since);
    attempt->begun = attempt->lost = attempt->request.mayBeThere;
    if (attempt->request.mayBeThere && lookAndTell(attempt))
        return;
    tryOnce(std::move(attempt));
}

void ScopeStarter::finished() {
    if (--inFlight_ > 0)
        return;
    // If many jobs start at once, pinfoldd allocates many messages and frees them later. Much of the memory of freed messages
    // lies between objects that pinfoldd still uses. Only malloc_trim(3) gives free memory between used objects back to the
    // kernel.
    if (std::exchange(highest_, 0) >= kBurst)
        ::malloc_trim(0);
}

void ScopeStarter::tryOnce(AttemptPtr attempt) {
    const auto& request = attempt->request;
    StartRequest start;
    if (attempt->needsPlaceholder()) {
        const auto placeholder = placeholderFor(*attempt);
        if (!placeholder)
            return finish(attempt, placeholder.error());
        start.scopeProperties = scopeProperties(attempt->key(), request.task, request.properties, {*placeholder});
    } else if (!attempt->processes->empty()) {
        std::vector<pid_t> pids;
        for (const auto& process : *attempt->processes)
            pids.push_back(process.pid);
        start.scopeProperties = scopeProperties(attempt->key(), request.task, request.properties, pids);
    }
    if (!attempt->processes->empty())
        start.scope = attempt->unit();
    // A scope from an earlier try does not exist any more if the placeholder in the scope has ended. If the slice still exists,
    // tryOnce() does not create the slice a second time.
    if (request.withSlice && !(attempt->begun && context_.cgroups.exists(slicePath(attempt->key())))) {
        start.slice = attempt->key().sliceName();
        start.sliceProperties = sliceProperties(attempt->key(), request.properties);
    }
    context_.systemd.start(std::move(start), [this, attempt](const SystemdOutcome& outcome) { decide(attempt, outcome); });
}

Result<pid_t> ScopeStarter::placeholderFor(Attempt& attempt) const {
    auto& placeholders = attempt.placeholders;
    if (!placeholders.empty() && context_.placeholders.lives(placeholders.back()))
        return placeholders.back();
    auto placeholder = context_.placeholders.start();
    if (placeholder)
        placeholders.push_back(*placeholder);
    return placeholder;
}

void ScopeStarter::decide(AttemptPtr attempt, const SystemdOutcome& outcome) {
    // If systemd has refused a call, systemd has created no unit for that call.
    attempt->begun = attempt->begun || !outcome || outcome->fault == SystemdFault::NoReply ||
                     outcome->fault == SystemdFault::JobFailed || outcome->fault == SystemdFault::Other;
    if (!outcome)
        attempt->lost = false;
    else if (outcome->fault == SystemdFault::NoReply)
        attempt->lost = true;
    // pinfoldd does not rely on the answer of systemd, but checks the cgroup of each process. systemd's answer can be lost.
    // systemd can report success for a scope that has ended already.
    if (lookAndTell(attempt))
        return;

    if (!outcome)
        return retry(attempt, kNameTaken,
                     systemdFailed(attempt->unit(), "systemd reports success, but the kernel shows the process elsewhere"));
    const auto failure = systemdFailed(attempt->unit(), outcome->message);
    switch (outcome->fault) {
    case SystemdFault::NoReply:
        return retry(attempt, kAnswerLost, failure);
    case SystemdFault::UnitExists:
        return freeName(
            attempt,
            {ErrorCode::AlreadyExists,
             fmt::format(
                 "a unit of this job's name exists already, and pinfold did not create it: {}; look at `systemctl status {}`",
                 outcome->message, attempt->key().sliceName())});
    case SystemdFault::Destructive:
        return retry(attempt, kNameTaken, {ErrorCode::Busy, "the job's slice is being stopped: try again"});
    case SystemdFault::ProcessGone:
        return finish(attempt, Error{ErrorCode::PidGone, "the process ended before it was in " + attempt->unit()});
    case SystemdFault::NoSuchUnit:
    case SystemdFault::PropertyRefused:
    case SystemdFault::JobFailed:
    case SystemdFault::Other:
        return finish(attempt, failure);
    }
}

/// Removes an old unit from systemd, because a new unit needs the name of the old unit. systemd does not forget a failed unit.
/// systemd forgets a scope when the kernel reports that the scope has become empty. If a scope has never had a process, the
/// kernel does not report the scope as empty. If somebody kills pinfoldd, a scope that has never had a process can remain. A
/// placeholder of a killed pinfoldd is a zombie until PID 1 reaps the placeholder. If PID 1 writes the process id of a zombie to
/// cgroup.procs, the kernel reports success, but moves nothing.
void ScopeStarter::freeName(const AttemptPtr& attempt, const Error& taken) {
    context_.systemd.resetFailed(attempt->unit(), [](const SystemdOutcome&) {});
    if (!attempt->lost)
        return retry(attempt, kNameTaken, taken);
    // PID 1 possibly created the unit after an earlier call, and is possibly still starting the unit. A scope that is still
    // starting is empty only until PID 1 moves the job's process into the scope. Before pinfoldd stops the unit, pinfoldd asks
    // PID 1 whether the start of the unit is over. After PID 1 has answered that the start is over, pinfoldd must stop the unit
    // before any other call to PID 1.
    context_.systemd.listUnits({attempt->unit()}, [this, attempt, taken](const auto& answer) {
        const auto* units = std::get_if<std::vector<UnitStatus>>(&answer);
        const auto isStarted = [&](const UnitStatus& unit) {
            return unit.name == attempt->unit() && unit.activeState == "active";
        };
        if (units && std::ranges::any_of(*units, isStarted) &&
            context_.cgroups.isEmpty(scopePath(attempt->key(), attempt->request.task)))
            context_.systemd.stop(attempt->unit(), [](const SystemdOutcome&) {});
        retry(attempt, kAnswerLost, taken);
    });
}

bool ScopeStarter::lookAndTell(const AttemptPtr& attempt) {
    const auto isThere = isDone(*attempt);
    if (isThere && !*isThere) {
        if (!holdsPlace(*attempt))
            return false;
        letIn(attempt);
        return true;
    }
    attempt->begun = attempt->begun || isThere;
    finish(attempt, isThere ? Result<void>() : isThere.error());
    return true;
}

bool ScopeStarter::holdsPlace(const Attempt& attempt) const {
    if (attempt.placeholders.empty() || !context_.placeholders.lives(attempt.placeholders.back()))
        return false;
    const auto path = context_.processes.cgroupOf(attempt.placeholders.back());
    return path && *path == scopePath(attempt.key(), attempt.request.task);
}

/// Moves the job's processes into the scope. Call letIn() when the scope exists and contains its placeholder.
void ScopeStarter::letIn(const AttemptPtr& attempt) {
    attempt->begun = true;
    attempt->job->turns.take(Turns::Kind::Move, [this, attempt] {
        const auto refused = [this, &attempt](Error why) {
            attempt->job->turns.over();
            finish(attempt, std::move(why));
        };
        if (!attempt->callbacks.wanted())
            return refused(tooLate(attempt->key()));
        const auto move = [mover = context_.mover, processes = attempt->processes,
                           scope = scopePath(attempt->key(), attempt->request.task),
                           owner = context_.idsOf(attempt->job->record.uid)] {
            Moves moves;
            for (const auto& process : *processes) {
                auto [result, trouble] = mover->move(process, scope, owner);
                moves.result = result ? moves.result : result;
                if (!trouble.empty())
                    moves.troubles.push_back(std::move(trouble));
            }
            if (!moves.result)
                append(moves.troubles, mover->clear(scope, *processes, owner));
            return moves;
        };
        if (!context_.background.ask(Lane::Moves, move, [this, attempt](const Moves& moves) {
                moved(attempt, moves);
                attempt->job->turns.over();
            }))
            refused({ErrorCode::Busy, "pinfoldd cannot move the process now, because moves for other jobs hang: try again"});
    });
}

void ScopeStarter::moved(const AttemptPtr& attempt, const Moves& moves) {
    warn(attempt->key(), moves.troubles);
    const auto isThere = isDone(*attempt);
    if (isThere && !*isThere)
        return retry(attempt, kNameTaken,
                     moves.result ? systemdFailed(attempt->unit(), "the moved process is in another cgroup")
                                  : moves.result.error());
    finish(attempt, isThere ? Result<void>() : isThere.error());
}

/// Ends the placeholder of the scope, and then informs the caller. When the caller is informed, the scope contains only the job's
/// own processes.
void ScopeStarter::finish(const AttemptPtr& attempt, const Result<void>& result) {
    if (attempt->placeholders.empty())
        return tell(attempt, result);
    context_.placeholders.end(attempt->placeholders.back(), [this, attempt, result] { tell(attempt, result); });
}

void ScopeStarter::tell(const AttemptPtr& attempt, Result<void> result) {
    for (const auto placeholder : std::exchange(attempt->placeholders, {}))
        if (attempt->lost)
            inDoubt_.push_back(placeholder);
        else
            context_.placeholders.release(placeholder);
    releaseInDoubt();
    if (result || !attempt->begun || attempt->needsPlaceholder())
        return attempt->tell(std::move(result));
    // The job's process ended before the process was in the scope. A new process possibly had the process id of the ended
    // process, and PID 1 possibly moved the new process into the scope.
    const auto putBack = [mover = context_.mover, processes = attempt->processes,
                          scope = scopePath(attempt->key(), attempt->request.task),
                          owner = context_.idsOf(attempt->job->record.uid)] {
        std::vector<std::string> troubles;
        for (const auto& process : *processes)
            if (hasEnded(process.pidfd.get()))
                if (auto trouble = mover->putBack(process.pid, scope, owner); !trouble.empty())
                    troubles.push_back(std::move(trouble));
        append(troubles, mover->clear(scope, *processes, owner));
        return troubles;
    };
    if (!context_.background.ask(Lane::Moves, putBack, [this, attempt, result](const std::vector<std::string>& troubles) {
            warn(attempt->key(), troubles);
            attempt->tell(result);
        }))
        attempt->tell(std::move(result));
}

void ScopeStarter::warn(const JobKey& key, const std::vector<std::string>& troubles) const {
    for (const auto& trouble : troubles)
        logWarning(context_, key, trouble);
}

/// Sends a call to PID 1, and releases the placeholders when PID 1 has answered. A call with the process ids of the placeholders
/// is possibly still in the queue of PID 1. Until PID 1 has handled all calls in its queue, no other process can get the process
/// id of a placeholder. PID 1 handles calls in the order of their arrival.
void ScopeStarter::releaseInDoubt() {
    if (inDoubt_.empty() || asksForDoubt_)
        return;
    asksForDoubt_ = true;
    const auto answered = [this, placeholders = std::exchange(inDoubt_, {})](const auto& answer) {
        asksForDoubt_ = false;
        if (std::holds_alternative<SystemdError>(answer)) {
            inDoubt_.insert(inDoubt_.end(), placeholders.begin(), placeholders.end());
            doubtTimer_ = context_.loop.after(kAskSystemdAgain, [this] { releaseInDoubt(); });
            return;
        }
        for (const auto placeholder : placeholders)
            context_.placeholders.release(placeholder);
        releaseInDoubt();
    };
    context_.systemd.listUnits({std::string(kBatchSlice)}, answered);
}

void ScopeStarter::retry(AttemptPtr attempt, const Patience& patience, Error otherwise) {
    if (context_.loop.bootTime() - attempt->since >= patience.total)
        return patience.mayComeYet ? waitForSystemd(std::move(attempt), std::move(otherwise))
                                   : finish(attempt, std::move(otherwise));
    after(attempt, patience.interval, [this](const AttemptPtr& again) {
        if (lookAndTell(again))
            return;
        // If the job is over, ScopeStarter must not start the job's units again, because systemd would create a slice without
        // limits.
        if (!again->callbacks.wanted())
            return finish(again, tooLate(again->key()));
        tryOnce(again);
    });
}

/// Waits until PID 1 answers again. While PID 1 hangs, its queue can contain calls that pinfoldd has sent. When PID 1 answers
/// again, it handles the calls in its queue.
void ScopeStarter::waitForSystemd(AttemptPtr attempt, Error otherwise) {
    if (auto overdue = std::exchange(attempt->callbacks.overdue, nullptr))
        overdue(otherwise);
    after(attempt, kAskSystemdAgain,
          [this, otherwise = std::move(otherwise)](const AttemptPtr& waiting) { askSystemd(waiting, otherwise); });
}

void ScopeStarter::after(const AttemptPtr& attempt, Microseconds delay, std::function<void(const AttemptPtr&)> act) {
    // The timer has only a weak pointer to the Attempt. With strong pointers in both directions, the timer and the Attempt would
    // keep each other alive for ever.
    waiting_[attempt] = context_.loop.after(delay, [this, weak = std::weak_ptr(attempt), act = std::move(act)] {
        const auto fired = waiting_.extract(weak.lock());
        act(fired.key());
    });
}

void ScopeStarter::askSystemd(const AttemptPtr& attempt, const Error& otherwise) {
    // The bus delivers calls in the order in which the callers sent the calls. When PID 1 answers listUnits(), PID 1 has
    // already received all calls that pinfoldd sent before listUnits().
    context_.systemd.listUnits({attempt->unit()}, [this, attempt, otherwise](const auto& answer) {
        if (std::holds_alternative<SystemdError>(answer))
            return waitForSystemd(attempt, otherwise);
        if (lookAndTell(attempt))
            return;
        for (const auto& unit : std::get<std::vector<UnitStatus>>(answer))
            if (unit.name == attempt->unit() && unit.isToStart())
                return waitForSystemd(attempt, otherwise);
        finish(attempt, otherwise);
    });
}

Result<bool> ScopeStarter::isDone(const Attempt& attempt) const {
    if (attempt.processes->empty())
        return context_.cgroups.exists(slicePath(attempt.key()));
    const auto expected = scopePath(attempt.key(), attempt.request.task);
    std::size_t living = 0;
    for (const auto& process : *attempt.processes) {
        const auto path = context_.processes.cgroupOf(process.pid);
        if (hasEnded(process.pidfd.get())) // a new process can have the process id of an ended process
            continue;
        if (!path)
            return path.error();
        if (*path != expected)
            return false;
        ++living;
    }
    return living > 0 ? Result(true) : Error{ErrorCode::PidGone, "the process ended before it was in " + attempt.unit()};
}

} // namespace pinfold
