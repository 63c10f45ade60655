// SPDX-License-Identifier: LGPL-2.1-or-later
// pbs_mom runs some scripts as the job's user, but in pbs_mom's own cgroup. The scripts are prologue.user, epilogue.user, and the
// scripts that a user names by `qsub -l prologue=` or `-l epilogue=`. A process that a script left behind in pbs_mom's cgroup
// outlives the job, because the process is not in the job's scope.
#pragma once

#include <string>

namespace pinfold::torque {

/// Kills the processes that the user's scripts left behind in pbs_mom's cgroup, and writes a message to the journal. The process
/// of the epilogue is in pbs_mom's cgroup, but is not a leftover. The epilogue calls endScriptLeftovers() at the job's end, when
/// all scripts of the job are over. endScriptLeftovers() does not kill a process that possibly belongs to a second live job of
/// the user. When the second job ends, its epilogue kills the leftovers of both jobs.
void endScriptLeftovers(const std::string& key, const std::string& user);

} // namespace pinfold::torque
