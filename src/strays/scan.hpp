// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/unique_fd.hpp"
#include "os/process.hpp"

#include <functional>
#include <string>
#include <vector>

namespace pinfold {

struct SeenProcess {
    ProcessInfo info;   ///< without the command line
    std::string cgroup; ///< as in /proc/PID/cgroup
    UniqueFd pidfd;     ///< opened before everything else was read; closed again if it was not asked for
};

struct Scan {
    std::vector<SeenProcess> processes;
    std::vector<std::string> problems; ///< not empty: there may be more processes than these
};

enum class Pidfds { Keep, Close };

/// Keeps the first ten problems, and how many more there are, because what goes wrong for one process may go wrong for thousands.
void cutShort(std::vector<std::string>& problems);

/// Every process with a real user id for which `wanted` is true, except kernel threads, pid 1 and this process.
Scan scanProcesses(const ProcessTable& table, const std::function<bool(uid_t)>& wanted, Pidfds pidfds);

/// Reads the same process as it is now; pid, user and start must be the same. Errors: PidGone, also when it runs as another user
/// now; Internal.
Result<void> readAgain(const ProcessTable& table, SeenProcess& seen);

} // namespace pinfold
