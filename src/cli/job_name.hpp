// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <string>

namespace pinfold {

/// Returns the key of the job that the user has named. The user can name a job by its key ("sge.4711"), or by its scope or slice
/// ("job-sge.4711.scope"). Another name of a job is its id in the batch system ("4711", or "4711.server" for OpenPBS and Torque).
/// If a live job has this id, keyOf() does not look for jobs that are over. If `orProcess` is true, `name` can also be the id of
/// a process. keyOf() returns the id of a process unchanged if no live job has the same id. The error is NoSuchJob if the job
/// does not exist. The error is InvalidArgument if several jobs have the id, or if the unit is not a job's unit.
Result<std::string> keyOf(const std::string& name, bool orProcess = false);

} // namespace pinfold
