// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/start/supervisor_home.hpp"

#include "core/report/events.hpp"
#include "core/start/process_check.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace pinfold {
namespace {

constexpr Microseconds kMoment = 200ms;

// The package of pinfold installs pinfold.slice. The cgroup of a slice stays even when the cgroup has no processes.
constexpr std::string_view kHome = "/pinfold.slice";

// SupervisorHome does not move supervisors that are in user.slice. A supervisor in user.slice does not belong to the service of a
// batch system. If a user's process is not in a job, the limits of user.slice apply to the process. A supervisor in user.slice
// must stay within the limits of user.slice.
constexpr std::string_view kSessions = "/user.slice/";

/// Describes a supervisor that a thread has to move into pinfold.slice.
struct Supervisor {
    JobKey job;
    UserIds owner;
    Newcomer process;
};

/// Returns the supervisor of the task. Returns nullopt if the task has no supervisor, if the supervisor has ended, or if
/// pinfoldd has no free file descriptor.
std::optional<Supervisor> supervisorOf(const CoreContext& context, const Job& job, std::uint32_t number) {
    const auto task = job.tasks.find(number);
    const auto record = job.record.tasks.find(number);
    if (task == job.tasks.end() || record == job.record.tasks.end())
        return std::nullopt;
    const auto& pidfd = number == 0 ? job.supervisor : task->second.supervisor;
    const auto& identity = number == 0 ? job.record.supervisor : record->second.supervisor;
    if (!pidfd || !identity || hasEnded(pidfd.get()))
        return std::nullopt;
    auto process = newcomerOf(identity->pid, pidfd, {});
    if (!process)
        return std::nullopt;
    return Supervisor{job.key(), context.idsOf(job.record.uid), std::move(*process)};
}

Result<void> takeIn(const ProcessMover& mover, const ProcessTable& processes, const Supervisor& supervisor) {
    // Before the start of the task, pinfoldd checked that the supervisor was in no job. After the check, another job of the owner
    // has possibly adopted the supervisor.
    const auto place = processes.cgroupOf(supervisor.process.pid);
    if (!place || identifyPath(*place) || place->starts_with(kSessions))
        return {};
    const auto [moved, trouble] = mover.move(supervisor.process, std::string(kHome), supervisor.owner);
    if (!trouble.empty())
        return Error{ErrorCode::PidGone, trouble};
    // If the supervisor has ended, nobody has to move the supervisor, so takeIn() reports no error.
    return moved || moved.error().code == ErrorCode::PidGone ? Result<void>() : moved;
}

struct Failure {
    JobKey job;
    Error why;
};

} // namespace

void SupervisorHome::expect(const JobPtr& job, std::uint32_t task) {
    if (!supervisorOf(core_.context, *job, task))
        return;
    expected_.push_back({job, task});
    if (!timer_)
        timer_ = core_.context.loop.after(kMoment, [this] { takeIn(); });
}

void SupervisorHome::takeIn() {
    timer_.reset();
    auto supervisors = std::make_shared<std::vector<Supervisor>>();
    for (const auto& [weak, task] : std::exchange(expected_, {}))
        if (const auto job = weak.lock())
            if (auto supervisor = supervisorOf(core_.context, *job, task))
                supervisors->push_back(std::move(*supervisor));
    if (supervisors->empty())
        return;
    const auto move = [mover = core_.context.mover, processes = core_.context.processes, supervisors] {
        std::vector<Failure> failures;
        for (const auto& supervisor : *supervisors)
            if (auto taken = pinfold::takeIn(*mover, processes, supervisor); !taken)
                failures.push_back({supervisor.job, taken.error()});
        return failures;
    };
    const bool taken = core_.context.background.ask(Lane::Moves, move, [this](const std::vector<Failure>& failures) {
        for (const auto& [job, why] : failures)
            tellThatItStays(job, why.message);
    });
    if (!taken)
        for (const auto& supervisor : *supervisors)
            tellThatItStays(supervisor.job, "the moves of other supervisors hang");
}

void SupervisorHome::tellThatItStays(const JobKey& job, const std::string& why) const {
    logWarning(core_.context, job,
               "its supervisor stays in the batch system's cgroup, so a restart of the batch system may end the job: " + why);
}

} // namespace pinfold
