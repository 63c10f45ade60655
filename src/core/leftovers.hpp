// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"

#include <sys/types.h>

#include <vector>

namespace pinfold {

using ProcessReader = Result<ProcessInfo> (ProcessTable::*)(pid_t) const;

/// The first leftovers.report_max of these processes, with as much of their command lines as leftovers.command_lines lets be
/// told.
std::vector<ProcessInfo> nameProcesses(const CoreContext& context, const std::vector<pid_t>& pids, ProcessReader read);

/// Lists what a task's leader left behind, reports it (journal, signal), and adds it to the job's record. At most
/// leftovers.report_max processes are looked at one by one, so that a fork storm can't keep pinfoldd busy; the rest is counted.
/// For task 0 all of the job's processes count.
void reportLeftovers(Core& core, Job& job, std::uint32_t task);

} // namespace pinfold
