// SPDX-License-Identifier: LGPL-2.1-or-later
// Becomes the job's user for a job starter that runs as root ($job_starter_run_privileged). The environment names the job's user,
// but must not be trusted, because users control the environment: a task that a program spawns through TM has the variables that
// this program wrote.
#pragma once

#include "adapters/torque/translate.hpp"
#include "base/result.hpp"

#include <string_view>

namespace pinfold::torque {

/// Returns the user whose job has this cookie, by pbs_mom's own job files. The cookie is a secret of the job: a process that
/// knows the cookie can make pbs_mom spawn tasks in the job as the job's user anyway. identify() waits for a file that pbs_mom is
/// about to write. Error: Denied.
Result<Identity> identify(std::string_view cookie);

/// Becomes this user for good: user, group, the user's supplementary groups, and a working directory that the user may enter.
/// Error: Denied.
Result<void> become(const Identity& identity);

} // namespace pinfold::torque
