// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/supervisor_home.hpp"

#include "core/events.hpp"

#include <utility>

namespace pinfold {
namespace {

constexpr std::uint64_t kMoment = 200'000;

// Ships with pinfold: a slice, whose cgroup stays without any process in it.
constexpr std::string_view kHome = "/pinfold.slice";

} // namespace

void SupervisorHome::expect(const JobPtr& job) {
    if (!job->supervisor)
        return;
    expected_.push_back(job);
    if (!timer_)
        timer_ = core_.context.loop.after(kMoment, [this] { takeIn(); });
}

void SupervisorHome::takeIn() {
    timer_.reset();
    for (const auto& weak : std::exchange(expected_, {})) {
        const auto job = weak.lock();
        if (!job || !job->supervisor || hasEnded(job->supervisor.get()))
            continue;
        if (auto taken = takeIn(*job); !taken)
            logWarning(
                core_.context, job->key(),
                "its supervisor stays in the batch system's own cgroup, and a restart of that service would end the job: " +
                    taken.error().message + "; start it with `systemctl start pinfold.slice`");
    }
}

Result<void> SupervisorHome::takeIn(const Job& job) const {
    auto home = core_.context.cgroups.open(kHome);
    return home ? home->attach(job.record.supervisor->pid) : Result<void>(home.error());
}

} // namespace pinfold
