// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/restart/node_shutdown.hpp"

#include "base/parse.hpp"
#include "core/report/events.hpp"

#include <fmt/core.h>

#include <csignal>
#include <string>
#include <utility>

namespace pinfold {
namespace {

constexpr Microseconds kPatience = 30s;
// At a shutdown, PID 1 sends signals to the processes of jobs, and only afterwards announces the shutdown on the bus. pinfoldd
// can receive the announcement of the shutdown some time after PID 1 has sent the first signals.
constexpr Microseconds kLateWord = 10s;

/// Returns true if no request has caused the end of the job.
bool isUnexplained(JobResult result) {
    return result == JobResult::Exited || result == JobResult::Signaled || result == JobResult::SupervisorLost ||
           result == JobResult::Lost;
}

} // namespace

void NodeShutdown::begin(BootTime since) {
    if (core_.shutdownSince)
        return;
    core_.shutdownSince = since;
    logShutdown(core_.context, core_.registry.all().size());
    const auto jobs = core_.registry.all(); // the list is a copy, because an empty job can end at once and leave the registry
    for (const auto& [key, job] : jobs)
        ender_.begin(job, {.cause = JobResult::NodeShutdown, .by = {}, .grace = {}});
}

void NodeShutdown::finish(std::function<void()> done) {
    done_ = std::move(done);
    const auto jobs = core_.registry.all();
    for (const auto& [key, job] : jobs)
        if (job->leftToPid1) // PID 1 had enough time to end the job, but the job still lives
            ender_.begin(job, {.cause = JobResult::NodeShutdown, .by = {}, .grace = 0s});
    timer_ = core_.context.loop.after(kPatience, [this] {
        logNodeWarning(
            core_.context,
            fmt::format("the shutdown goes on without the receipts of {}: pinfoldd will write them after the next boot",
                        counted(core_.registry.all().size(), "job", "jobs")));
        std::exchange(done_, nullptr)();
    });
    jobIsOver();
}

void NodeShutdown::jobIsOver() {
    if (!done_ || !core_.registry.all().empty())
        return;
    timer_.reset();
    std::exchange(done_, nullptr)();
}

bool mayBeOfShutdown(const Core& core, const Job& job) {
    const auto cause = job.record.cause.value_or(JobResult::Lost);
    // If the job's leader ended with status 0, the job has ended by itself.
    return !core.shutdownSince && isUnexplained(cause) && !job.record.neverRan && job.record.exit.status != 0;
}

JobResult resultAtShutdown(const Core& core, const Job& job, JobResult result) {
    const auto& exit = job.record.exit;
    const bool byItself = exit.status == 0 || (exit.signal && exit.signal != SIGTERM && exit.signal != SIGKILL);
    if (!core.shutdownSince || !isUnexplained(result) || byItself || job.endBegan + kLateWord < *core.shutdownSince)
        return result;
    return JobResult::NodeShutdown;
}

} // namespace pinfold
