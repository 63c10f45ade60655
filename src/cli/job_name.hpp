// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "cli/command_line.hpp"

namespace pinfold {

/// Replaces the JOB of a verb that is about one job by that job's key. A user may name the job by its key, by the name of its
/// scope or slice, or by its id alone: "sge.4711", "job-sge.4711.scope", "4711". Live jobs with this id come before those that
/// are over; and `status` takes a number that is no live job's for a process id. Errors: InvalidArgument, several jobs have this
/// id, or the unit is no job's; NoSuchJob.
Result<void> nameJobByKey(CommandLine& line);

} // namespace pinfold
