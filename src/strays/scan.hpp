// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/unique_fd.hpp"
#include "os/process.hpp"

#include <functional>
#include <string>
#include <vector>

namespace pinfold {

struct SeenProcess {
    ProcessInfo info;   ///< the facts about the process, without its command line
    std::string cgroup; ///< the cgroup of the process, as in /proc/PID/cgroup
    UniqueFd pidfd; ///< a pidfd that scanProcesses() opened before it read the process; empty if the caller does not want pidfds
};

struct Scan {
    std::vector<SeenProcess> processes;
    std::vector<std::string> problems; ///< the reasons why the list of processes is possibly incomplete
};

enum class Pidfds { Keep, Close };

/// Keeps the first ten problems and the number of further problems, because thousands of processes can have the same problem.
void cutShort(std::vector<std::string>& problems);

/// Calls `wanted` with the real user id of each process, and returns the processes for which `wanted` returns true. The result
/// contains no kernel thread, and neither pid 1 nor this process.
Scan scanProcesses(const ProcessTable& table, const std::function<bool(uid_t)>& wanted, Pidfds pidfds);

/// Reads a process again. readAgain() succeeds only if the process still has the same pid, the same user and the same start time
/// as in `seen`. Fails with PidGone if the process has ended or now runs as a different user. readAgain() reports every failure
/// except PidGone as Internal.
Result<void> readAgain(const ProcessTable& table, SeenProcess& seen);

} // namespace pinfold
