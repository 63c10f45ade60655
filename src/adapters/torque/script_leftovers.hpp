// SPDX-License-Identifier: LGPL-2.1-or-later
// pbs_mom runs some scripts as the job's user, but in pbs_mom's own cgroup: prologue.user, epilogue.user, and those of
// `qsub -l prologue=` and `-l epilogue=`. What such a script leaves behind is in no job, so no job's end reaches it.
#pragma once

#include <string>

namespace pinfold::torque {

/// The epilogue calls this at the job's end, when all these scripts are over. Kills what they have left in our cgroup, which is
/// pbs_mom's, and says so in the journal. What may belong to another live job of the user is left to the epilogue of that job.
void endScriptLeftovers(const std::string& key, const std::string& user);

} // namespace pinfold::torque
