// SPDX-License-Identifier: LGPL-2.1-or-later
// pbs_mom runs some scripts as the job's user, but in pbs_mom's own cgroup: prologue.user, epilogue.user, and those of `qsub -l
// prologue=` and `-l epilogue=`. Processes that such a script leaves behind are in no job, so the end of a job does not end them.
#pragma once

#include <string>

namespace pinfold::torque {

/// Kills the processes that the user's scripts left in pbs_mom's cgroup, which is also the cgroup of this program, and writes
/// that to the journal. The epilogue calls this at the job's end, when all these scripts are over. If a process may belong to
/// another live job of the user, it is left to the epilogue of that job.
void endScriptLeftovers(const std::string& key, const std::string& user);

} // namespace pinfold::torque
