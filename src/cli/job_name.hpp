// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "cli/command_line.hpp"

namespace pinfold {

/// Replaces the JOB of a verb that is about one job by the key of that job. A user may name the job by its key ("sge.4711"), by
/// the name of its scope or slice ("job-sge.4711.scope"), or by its id alone ("4711"). If a live job has the id, jobs that are
/// over are not searched. `status` takes a number that is not the id of a live job for a process id. Errors: InvalidArgument, if
/// several jobs have the id or the unit is not a job's. NoSuchJob.
Result<void> nameJobByKey(CommandLine& line);

} // namespace pinfold
