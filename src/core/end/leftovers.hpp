// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"

#include <sys/types.h>

#include <vector>

namespace pinfold {

/// Reads facts about at most leftovers.report_max processes. glance() reads only facts for which the kernel never has to wait.
/// Before the kernel can return a command line, the kernel sometimes has to wait. In place of the command line, glance() returns
/// the name of the process in brackets.
std::vector<ProcessInfo> glance(const CoreContext& context, const std::vector<pid_t>& pids);

/// Shortens or removes the command lines according to the setting leftovers.command_lines.
void keepToPolicy(const CoreContext& context, std::vector<ProcessInfo>& processes);

/// Lists the processes that the leader of a task left behind, and adds the processes to the job's record. A process that SIGKILL
/// has already ended is not a leftover, even if the process is still in the cgroup. reportLeftovers() reads facts about at most
/// leftovers.report_max processes, and only counts all other processes. Because of the limit leftovers.report_max, a job that
/// creates processes very fast cannot keep pinfoldd busy. For task 0, reportLeftovers() lists all processes of the job.
///
/// Call reportLeftovers() before the processes get a signal. reportLeftovers() returns before the report is written. When a
/// thread has read the command lines, pinfoldd writes the report to the journal. Job::describing is the number of unfinished
/// reports on leftovers.
void reportLeftovers(Core& core, const JobPtr& job, std::uint32_t task);

} // namespace pinfold
