// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/killer.hpp"

#include <memory>
#include <utility>

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

} // namespace pinfold
