// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"

#include <sys/types.h>

#include <vector>

namespace pinfold {

/// Reads what can be known at once about the first leftovers.report_max of these processes. The command line cannot be read at
/// once, so each process has its name in brackets instead.
std::vector<ProcessInfo> glance(const CoreContext& context, const std::vector<pid_t>& pids);

/// Cuts the command lines as the setting leftovers.command_lines says.
void keepToPolicy(const CoreContext& context, std::vector<ProcessInfo>& processes);

/// Lists the processes that a task's leader left behind, and adds them to the job's record. reportLeftovers() looks at no more
/// than leftovers.report_max processes one by one, and counts the rest, so that a fork storm cannot keep pinfoldd busy. For task
/// 0 all of the job's processes count.
///
/// Call reportLeftovers() before the processes get a signal. reportLeftovers() returns at once, reads the command lines in the
/// background, and then writes to the journal. Job::describing counts the reports that are under way.
void reportLeftovers(Core& core, const JobPtr& job, std::uint32_t task);

} // namespace pinfold
