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
    std::vector<std::string> unseen; ///< the reasons why StrayScanner could have missed a stray
    std::vector<std::string> doubts; ///< the reasons why a process in `strays` is possibly not a stray
    std::vector<std::string> unread; ///< the processes whose command lines cannot be read, so that only their names are known
    /// Returns true if StrayScanner has found all strays, and if every element of `strays` is certainly a stray. If areSure()
    /// returns false, pinfold must not kill any process.
    bool areSure() const { return unseen.empty() && doubts.empty(); }
};

/// Looks for strays on this node. StrayScanner does not change anything.
class StrayScanner {
public:
    /// `root` is the prefix of all paths. StrayScanner asks the real systemd-logind, whatever `root` is.
    StrayScanner(const std::filesystem::path& root, JobLister jobs, StrayPolicy policy);

    Findings look(Pidfds pidfds) const;
    /// Reads the jobs and processes again. Returns all elements of `strays` that still exist and are still strays. The pidfds of
    /// `strays` must be open.
    Findings lookAgain(std::vector<Stray> strays) const;
    /// Call confirm() right before you send a signal to the stray. confirm() succeeds if the process of the stray still exists
    /// and has not changed its cgroup. Fails with PidGone if the stray has changed, and the message says what has changed.
    /// confirm() reports every failure except PidGone as Internal.
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
