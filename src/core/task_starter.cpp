// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/task_starter.hpp"

#include "core/job.hpp"

#include <malloc.h>

#include <algorithm>
#include <string>
#include <utility>

namespace pinfold {
namespace {

// A reexec of PID 1 takes about 0.4 s, in which calls are lost, and another one may follow.
constexpr TaskStarter::Patience kAnswerLost{300'000, 45'000'000, true};
// A unit that just ended keeps its name until PID 1's next idle moment.
constexpr TaskStarter::Patience kNameTaken{50'000, 1'000'000, false};
// From one question to the next whether a PID 1 that does not answer is back.
constexpr std::uint64_t kAskAgain = 1'000'000;

Error systemdFailed(const std::string& unit, const std::string& words) {
    return {ErrorCode::SystemdFailed, "systemd did not start " + unit + ": " + words};
}

constexpr std::size_t kBurst = 64;

} // namespace

struct TaskStarter::Attempt {
    Attempt(Request requestArg, Callbacks callbacksArg, std::uint64_t now)
        : request(std::move(requestArg)), callbacks(std::move(callbacksArg)), since(now) {}

    Request request;
    Callbacks callbacks;
    std::uint64_t since; ///< CLOCK_BOOTTIME, microseconds
    bool begun = false;  ///< as in Outcome
    bool lost = false;   ///< the answer to a call, which may wait for its turn with PID 1 still
    EventHandle timer;
    std::string unit() const { return request.pids.empty() ? request.key.sliceName() : request.key.scopeName(request.task); }
    void finish(Result<void> result) { std::exchange(callbacks, {}).done({.result = std::move(result), .begun = begun}); }
};

void TaskStarter::start(Request request, Callbacks callbacks) {
    if (request.withSlice && !request.mayBeThere) {
        // systemd 252 leaks the slice's cgroup after an unkillable process, and would hand its counters to this job.
        const auto path = slicePath(request.key);
        if (context_.cgroups.exists(path) && context_.cgroups.children(path).empty())
            (void)context_.cgroups.remove(path); // in use after all: the start below says so
    }
    highest_ = std::max(highest_, ++inFlight_);
    const auto since = context_.loop.bootTime();
    callbacks.done = [this, since, done = std::move(callbacks.done)](const Outcome& outcome) {
        if (outcome.result)
            context_.metrics.scopeStarted(context_.loop.bootTime() - since);
        done(outcome);
        finished();
    };
    auto attempt = std::make_shared<Attempt>(std::move(request), std::move(callbacks), since);
    attempt->begun = attempt->lost = attempt->request.mayBeThere;
    if (attempt->request.mayBeThere && lookAndTell(*attempt))
        return;
    tryOnce(std::move(attempt));
}

void TaskStarter::finished() {
    if (--inFlight_ > 0)
        return;
    // The messages of a burst leave holes between what lives on, which the allocator would keep for ever.
    if (std::exchange(highest_, 0) >= kBurst)
        ::malloc_trim(0);
}

void TaskStarter::tryOnce(std::shared_ptr<Attempt> attempt) {
    const auto& request = attempt->request;
    StartRequest start;
    if (!request.pids.empty()) {
        start.scope = attempt->unit();
        start.scopeProperties = scopeProperties(request.key, request.task, request.properties, request.pids);
    }
    if (request.withSlice) {
        start.slice = request.key.sliceName();
        start.sliceProperties = sliceProperties(request.key, request.properties);
    }
    context_.systemd.start(std::move(start), [this, attempt](const SystemdOutcome& outcome) { decide(attempt, outcome); });
}

void TaskStarter::decide(std::shared_ptr<Attempt> attempt, const SystemdOutcome& outcome) {
    // A call that is refused has made nothing.
    attempt->begun = attempt->begun || !outcome || outcome->fault == SystemdFault::NoReply ||
                     outcome->fault == SystemdFault::JobFailed || outcome->fault == SystemdFault::Other;
    if (!outcome)
        attempt->lost = false;
    else if (outcome->fault == SystemdFault::NoReply)
        attempt->lost = true;
    // Whatever systemd says, the kernel knows: an answer may be lost, and "done" may be said of a scope that is dead already.
    if (lookAndTell(*attempt))
        return;

    if (!outcome)
        return retry(attempt, kNameTaken, systemdFailed(attempt->unit(), "it says done, but the kernel shows otherwise"));
    const auto failure = systemdFailed(attempt->unit(), outcome->message);
    switch (outcome->fault) {
    case SystemdFault::NoReply:
        return retry(attempt, kAnswerLost, failure);
    case SystemdFault::UnitExists:
        context_.systemd.resetFailed(attempt->unit(), [](const SystemdOutcome&) {});
        return retry(attempt, attempt->lost ? kAnswerLost : kNameTaken,
                     {ErrorCode::AlreadyExists, "a unit of this job exists already, and it is not ours: " + outcome->message +
                                                    "; look at `systemctl status " + attempt->request.key.sliceName() + "`"});
    case SystemdFault::Destructive:
        return retry(attempt, kNameTaken, {ErrorCode::Busy, "the job's slice is being stopped: try again"});
    case SystemdFault::ProcessGone:
        return attempt->finish(Error{ErrorCode::PidGone, "the process ended before it was in " + attempt->unit()});
    case SystemdFault::NoSuchUnit:
    case SystemdFault::PropertyRefused:
    case SystemdFault::JobFailed:
    case SystemdFault::Other:
        return attempt->finish(failure);
    }
}

bool TaskStarter::lookAndTell(Attempt& attempt) const {
    const auto isThere = isDone(attempt.request);
    if (isThere && !*isThere)
        return false;
    attempt.begun = attempt.begun || isThere;
    attempt.finish(isThere ? Result<void>() : Result<void>(isThere.error()));
    return true;
}

void TaskStarter::retry(std::shared_ptr<Attempt> attempt, const Patience& patience, Error otherwise) {
    if (context_.loop.bootTime() - attempt->since >= patience.total)
        return patience.mayComeYet ? waitForSystemd(std::move(attempt), std::move(otherwise))
                                   : attempt->finish(std::move(otherwise));
    attempt->timer = context_.loop.after(patience.interval, [this, attempt] {
        attempt->timer.reset();
        if (lookAndTell(*attempt))
            return;
        // Repeated for a job that is over, it would make a slice without limits that nobody knows.
        if (!attempt->callbacks.wanted())
            return attempt->finish(
                Error{ErrorCode::JobEnding, "job '" + attempt->request.key.text() + "' ended before it had this process"});
        tryOnce(attempt);
    });
}

/// The calls may lie in the queue of a PID 1 that hangs, and be done when it goes on.
void TaskStarter::waitForSystemd(std::shared_ptr<Attempt> attempt, Error otherwise) {
    if (auto overdue = std::exchange(attempt->callbacks.overdue, nullptr))
        overdue(otherwise);
    attempt->timer = context_.loop.after(kAskAgain, [this, attempt, otherwise = std::move(otherwise)] {
        attempt->timer.reset();
        askSystemd(attempt, otherwise);
    });
}

void TaskStarter::askSystemd(const std::shared_ptr<Attempt>& attempt, const Error& otherwise) {
    // The bus keeps the order: an answer tells that PID 1 has seen the earlier calls.
    context_.systemd.listUnits({attempt->unit()}, [this, attempt, otherwise](const auto& answer) {
        if (std::holds_alternative<SystemdError>(answer))
            return waitForSystemd(attempt, otherwise);
        if (lookAndTell(*attempt))
            return;
        for (const auto& unit : std::get<std::vector<UnitStatus>>(answer))
            if (unit.name == attempt->unit() && (unit.activeState == "inactive" || unit.activeState == "activating"))
                return waitForSystemd(attempt, otherwise); // its job has not run yet
        attempt->finish(otherwise);
    });
}

Result<bool> TaskStarter::isDone(const Request& request) const {
    if (request.pids.empty())
        return context_.cgroups.exists(slicePath(request.key));
    const auto expected = scopePath(request.key, request.task);
    for (const auto pid : request.pids) {
        const auto path = context_.processes.cgroupOf(pid);
        if (!path)
            return path.error();
        if (*path != expected)
            return false;
    }
    return true;
}

} // namespace pinfold
