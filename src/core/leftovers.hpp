// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"

#include <sys/types.h>

#include <vector>

namespace pinfold {

/// What is known at once of the first leftovers.report_max of these processes: no command line, but the name in brackets.
std::vector<ProcessInfo> glance(const CoreContext& context, const std::vector<pid_t>& pids);

/// Leaves as much of their command lines as leftovers.command_lines lets be told.
void keepToPolicy(const CoreContext& context, std::vector<ProcessInfo>& processes);

/// Lists what a task's leader left behind, and adds it to the job's record. At most leftovers.report_max processes are looked at
/// one by one, so that a fork storm can't keep pinfoldd busy; the rest is counted. For task 0 all of the job's processes count.
///
/// To be called before they are signalled, and it waits for nothing: the command lines are asked for, and the journal is told
/// when they are there. Job::describing counts what is under way.
void reportLeftovers(Core& core, const JobPtr& job, std::uint32_t task);

} // namespace pinfold
