// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "os/process_looks.hpp"
#include "strays/find.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace pinfold {

struct Findings {
    std::vector<Stray> strays;
    bool jobsKnown = false;
    std::vector<std::string> unseen; ///< why there may be more strays than these
    std::vector<std::string> doubts; ///< why one of them may be legitimate
    std::vector<std::string> unread; ///< processes whose command lines cannot be read, so that only their names are known
    /// True: nothing is in doubt. Nothing may be killed otherwise.
    bool areSure() const { return unseen.empty() && doubts.empty(); }
};

/// Looks for strays on this node. Reads only.
class StrayScanner {
public:
    /// `root`: the prefix of all paths. What systemd-logind knows does not depend on it.
    StrayScanner(const std::filesystem::path& root, JobLister jobs, StrayPolicy policy);

    Findings look(Pidfds pidfds) const;
    /// The strays that still exist, and are still strays by what is known now. Their pidfds must be open.
    Findings lookAgain(std::vector<Stray> strays) const;
    /// Call this right before a signal. Success: it is still the same process in the same cgroup. Errors: PidGone, with what has
    /// changed; Internal.
    Result<void> confirm(Stray& stray) const;

    const StraysConfig& config() const { return policy_.config; }

private:
    using Describe = std::function<void(ProcessInfo&)>;
    Findings judge(std::vector<SeenProcess> processes, const Describe& describe) const;
    Result<std::string> commandOf(ProcessLooks& looks, const ProcessInfo& info) const;

    ProcessTable processes_;
    CgroupTree cgroups_;
    RecordStore records_;
    JobLister jobs_;
    StrayPolicy policy_;
};

} // namespace pinfold
