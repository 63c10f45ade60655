// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/end/killer.hpp"

#include "core/job.hpp"
#include "core/report/events.hpp"

#include <fmt/core.h>

#include <memory>
#include <utility>
#include <vector>

namespace pinfold {
namespace {

constexpr Microseconds kMoment = 100ms;

} // namespace

Result<void> Killer::kill(const std::string& cgroup, EventHandle& look) {
    auto opened = context_.cgroups.open(cgroup);
    if (!opened)
        return context_.cgroups.exists(cgroup) ? opened.error() : Result<void>();
    // Killer keeps the directory of the job's cgroup open. If a later job has a cgroup with the path `cgroup`, the open directory
    // still refers to the old cgroup.
    const auto directory = std::make_shared<const CgroupDir>(std::move(*opened));
    auto killed = directory->kill();
    look = context_.loop.after(kMoment, [this, cgroup, directory] {
        if (directory->populated())
            (void)context_.background.run(
                Lane::Kills, [killer = context_.killer, directory, cgroup] { killer->killEach(*directory, cgroup); }, nullptr);
    });
    return killed;
}

bool Killer::killStubborn(const JobKey& key, uid_t owner, std::function<void()> then) const {
    const auto path = slicePath(key);
    auto opened = context_.cgroups.open(path);
    if (!opened) {
        then();
        return true;
    }
    const auto directory = std::make_shared<const CgroupDir>(std::move(*opened));
    if (auto killed = directory->kill(); !killed)
        logWarning(context_, key, killed.error().message, Trouble::Stop);
    const auto kill = [killer = context_.killer, directory, path, ids = context_.idsOf(owner)] {
        auto tracers = killer->killTracers(*directory, ids);
        killer->killEach(*directory, path);
        return tracers;
    };
    return context_.background.ask(Lane::Kills, kill, [this, key, then = std::move(then)](const std::vector<pid_t>& tracers) {
        for (const auto pid : tracers)
            logWarning(
                context_, key,
                fmt::format("pinfoldd killed process {}, because the process traced the job and kept the job from ending", pid));
        then();
    });
}

} // namespace pinfold
