// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/supervisor_home.hpp"

#include "core/events.hpp"

#include <optional>
#include <utility>

namespace pinfold {
namespace {

constexpr std::uint64_t kMoment = 200'000;

// Ships with pinfold: a slice, whose cgroup stays without any process in it.
constexpr std::string_view kHome = "/pinfold.slice";

/// Nullopt: the task has none, or it has ended.
std::optional<pid_t> supervisorOf(const Job& job, std::uint32_t number) {
    const auto task = job.tasks.find(number);
    const auto record = job.record.tasks.find(number);
    if (task == job.tasks.end() || record == job.record.tasks.end())
        return std::nullopt;
    const auto& pidfd = number == 0 ? job.supervisor : task->second.supervisor;
    const auto& identity = number == 0 ? job.record.supervisor : record->second.supervisor;
    return pidfd && identity && !hasEnded(pidfd.get()) ? std::optional(identity->pid) : std::nullopt;
}

} // namespace

void SupervisorHome::expect(const JobPtr& job, std::uint32_t task) {
    if (!supervisorOf(*job, task))
        return;
    expected_.push_back({job, task});
    if (!timer_)
        timer_ = core_.context.loop.after(kMoment, [this] { takeIn(); });
}

void SupervisorHome::takeIn() {
    timer_.reset();
    for (const auto& [weak, task] : std::exchange(expected_, {})) {
        const auto job = weak.lock();
        const auto supervisor = job ? supervisorOf(*job, task) : std::nullopt;
        if (!supervisor)
            continue;
        if (auto taken = takeIn(*supervisor); !taken)
            logWarning(core_.context, job->key(),
                       "its supervisor stays in the batch system's own cgroup, and a restart of that service may end the job: " +
                           taken.error().message);
    }
}

Result<void> SupervisorHome::takeIn(pid_t supervisor) const {
    auto home = core_.context.cgroups.open(kHome);
    if (!home)
        return Error{home.error().code, home.error().message + "; `systemctl start pinfold.slice` makes it"};
    return home->attach(supervisor);
}

} // namespace pinfold
