// SPDX-License-Identifier: LGPL-2.1-or-later
// Which processes are strays, and which of them are acted on. Pure.
#pragma once

#include "os/logins.hpp"
#include "strays/job_knowledge.hpp"
#include "strays/policy.hpp"
#include "strays/scan.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

struct Stray {
    SeenProcess process;
    StrayKind kind = StrayKind::Other;
    std::string unit;                  ///< the innermost unit; if there is none, the cgroup
    std::uint64_t age = 0;             ///< microseconds
    std::optional<bool> hasJob;        ///< its user has a live job; unset: not known
    std::optional<std::string> spared; ///< why the stray is not acted on; unset: it is

    bool actedOn() const { return !spared; }
};

/// The strays among `processes`, sorted by user and pid. `now`: CLOCK_BOOTTIME, microseconds. `describe` adds the command line.
/// It is called only for processes that meet all other conditions, and leaves "[name]" if the command line cannot be read.
std::vector<Stray> findStrays(
    std::vector<SeenProcess> processes, const JobKnowledge& jobs, const Logins& logins, const StrayPolicy& policy,
    std::uint64_t now, const std::function<void(ProcessInfo&)>& describe = [](ProcessInfo&) {});

} // namespace pinfold
