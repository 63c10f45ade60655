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
    UniqueFd pidfd;     ///< opened before all the rest was read; closed again where it was not asked for
};

struct Scan {
    std::vector<SeenProcess> processes;
    std::vector<std::string> problems; ///< not empty: there may be more processes than these
};

enum class Pidfds { Keep, Close };

/// What ails one may ail thousands: the first ten, and how many more there are.
void cutShort(std::vector<std::string>& problems);

/// Every process of these real user ids, but kernel threads, pid 1 and this process.
Scan scanProcesses(const ProcessTable& table, const std::function<bool(uid_t)>& wanted, Pidfds pidfds);

/// The same process as it is now: pid, user and start stay the same. Errors: PidGone, also when it runs as another user now;
/// Internal.
Result<void> readAgain(const ProcessTable& table, SeenProcess& seen);

} // namespace pinfold
