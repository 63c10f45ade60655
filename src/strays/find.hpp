// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds out which processes are strays, and on which strays `pinfold strays` acts. The functions are pure.
#pragma once

#include "base/clock.hpp"
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
    std::string unit; ///< the innermost unit that contains the stray; if no unit contains the stray, the stray's cgroup
    Microseconds age{};
    std::optional<bool> hasJob; ///< true if the stray's user has a live job; unset if the list of live jobs is not known
    /// The reason why `pinfold strays` does not act on the stray. If `spared` is unset, `pinfold strays` acts on the stray.
    std::optional<std::string> spared;

    bool actedOn() const { return !spared; }
};

/// Returns the strays among `processes`, sorted by user and pid. `describe` adds the command line of a process, or keeps the text
/// "[name]" if the command line cannot be read. findStrays() calls `describe` only after all checks that need no command line.
std::vector<Stray> findStrays(
    std::vector<SeenProcess> processes, const JobKnowledge& jobs, const Logins& logins, const StrayPolicy& policy, BootTime now,
    const std::function<void(ProcessInfo&)>& describe = [](ProcessInfo&) {});

} // namespace pinfold
