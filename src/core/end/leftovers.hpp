// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"

#include <sys/types.h>

#include <vector>

namespace pinfold {

/// What can be known at once about the first leftovers.report_max of these processes: not the command line, but the name in
/// brackets.
std::vector<ProcessInfo> glance(const CoreContext& context, const std::vector<pid_t>& pids);

/// Cuts the command lines to what leftovers.command_lines allows to be reported.
void keepToPolicy(const CoreContext& context, std::vector<ProcessInfo>& processes);

/// Lists the processes that a task's leader left behind, and adds them to the job's record. It looks at no more than
/// leftovers.report_max processes one by one, so that a fork storm cannot keep pinfoldd busy, and counts the rest. For task 0 all
/// of the job's processes count.
///
/// Call this before the processes are signalled. It waits for nothing: it asks for the command lines, and writes to the journal
/// when it has them. Job::describing counts the reports that are under way.
void reportLeftovers(Core& core, const JobPtr& job, std::uint32_t task);

} // namespace pinfold
