// SPDX-License-Identifier: LGPL-2.1-or-later
// For $job_starter_run_privileged, where pbs_mom leaves it to its starter to become the job's user. The environment names this
// user, but the user controls the environment: a task that is spawned through TM has the variables that its spawner wrote.
#pragma once

#include "adapters/torque/translate.hpp"
#include "base/result.hpp"

#include <string_view>

namespace pinfold::torque {

/// The user whose job has this cookie, by pbs_mom's own job files. The cookie is a secret of the job. A process that has it can
/// have pbs_mom spawn tasks in the job as its user anyway. Waits for a file that pbs_mom is about to write. Error: Denied.
Result<Identity> identify(std::string_view cookie);

/// Becomes this user for good: user, group, the user's supplementary groups, and a working directory that the user may enter.
/// Error: Denied.
Result<void> become(const Identity& identity);

} // namespace pinfold::torque
