// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/systemd_limit.hpp"

#include "base/parse.hpp"
#include "model/job_key.hpp"

#include <algorithm>

namespace pinfold {

// The property TasksMax of the scope has a value even if the kernel cannot enforce the limit. systemdTasksMax() reads the limit
// from the file pids.max of the cgroup. Every user can read pids.max, even while PID 1 does not answer.
std::optional<std::uint64_t> systemdTasksMax(const CgroupTree& cgroups, const std::string& key) {
    const auto job = JobKey::parse(key);
    if (!job)
        return std::nullopt;
    const auto slice = "/" + std::string(kBatchSlice) + "/" + job->sliceName();
    std::optional<std::uint64_t> least;
    for (const auto& scope : cgroups.children(slice)) {
        const auto cgroup = cgroups.open(slice + "/" + scope);
        const auto text = cgroup ? cgroup->read("pids.max") : std::nullopt;
        if (const auto limit = parseUnsigned(text.value_or("")))
            least = std::min(*limit, least.value_or(*limit));
    }
    return least;
}

} // namespace pinfold
