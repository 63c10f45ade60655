// SPDX-License-Identifier: LGPL-2.1-or-later
// Some sites run the job starter as root ($job_starter_run_privileged). A job starter that runs as root has to become the job's
// user. The environment names the job's user, but the job starter must not trust the environment, because users control the
// environment. If a program spawns a task through TM, the program sets all environment variables of the task.
#pragma once

#include "adapters/torque/translate.hpp"
#include "base/result.hpp"

#include <string_view>

namespace pinfold::torque {

/// Looks for the job's cookie in pbs_mom's own job files, and returns the user of the job. The cookie must stay secret. A process
/// that knows the cookie can make pbs_mom spawn tasks in the job as the job's user. identify() waits if pbs_mom has not written
/// the job's file yet. Error: Denied.
Result<Identity> identify(std::string_view cookie);

/// Permanently switches the process to the user and the group in `identity`, and to the user's supplementary groups. After
/// become(), the working directory is a directory that the user can enter. Error: Denied.
Result<void> become(const Identity& identity);

} // namespace pinfold::torque
