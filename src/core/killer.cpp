// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/killer.hpp"

#include "core/events.hpp"
#include "core/job.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace pinfold {
namespace {

constexpr std::uint64_t kMoment = 100'000; // microseconds

} // namespace

Result<void> Killer::kill(const std::string& cgroup, EventHandle& look) {
    auto opened = context_.cgroups.open(cgroup);
    if (!opened)
        return context_.cgroups.exists(cgroup) ? opened.error() : Result<void>();
    // Held open, so that it is not taken for a later job's of the same name.
    const auto directory = std::make_shared<const CgroupDir>(std::move(*opened));
    auto killed = directory->kill();
    look = context_.loop.after(kMoment, [this, cgroup, directory] {
        if (directory->populated())
            (void)context_.background.run(
                Lane::Kills, [killer = context_.killer, directory, cgroup] { killer->killEach(*directory, cgroup); }, nullptr);
    });
    return killed;
}

void Killer::killTracers(const JobKey& key, uid_t owner) const {
    auto opened = context_.cgroups.open(slicePath(key));
    if (!opened)
        return;
    const auto kill = [killer = context_.killer, directory = std::make_shared<const CgroupDir>(std::move(*opened)),
                       ids = context_.idsOf(owner)] { return killer->killTracers(*directory, ids); };
    (void)context_.background.ask(Lane::Kills, kill, [this, key](const std::vector<pid_t>& killed) {
        for (const auto pid : killed)
            logWarning(context_, key,
                       "process " + std::to_string(pid) + " traced the job and kept it from ending, so it was killed");
    });
}

} // namespace pinfold
