// SPDX-License-Identifier: LGPL-2.1-or-later
// Lists the environment variables in which the programs of a job find the limits of the job.
#pragma once

#include "model/job_record.hpp"

#include <array>
#include <string_view>

namespace pinfold {

inline constexpr const char* kJobVariable = "PINFOLD_JOB";

/// Lists the variables whose names begin with PINFOLD_. If a new job inherits variables in this list from a different job, the
/// wrapper removes the inherited variables.
inline constexpr std::array kLimitVariables{kJobVariable,         "PINFOLD_CPUS",      "PINFOLD_CPU_LIST",
                                            "PINFOLD_MEMORY_MAX", "PINFOLD_TASKS_MAX", "PINFOLD_END_TIME"};

/// Returns true if a wrapper must leave the variable `name` unchanged when the job's environment already contains the variable.
bool isLimitVariable(std::string_view name);

/// Puts the variables with the job's limits into `record.allocation.environment`. If the job does not have a limit,
/// setLimitVariables() removes the variable of the limit. If `ompThreads` is true, setLimitVariables() gives OMP_NUM_THREADS
/// the value of PINFOLD_CPUS.
void setLimitVariables(JobRecord& record, bool ompThreads);

} // namespace pinfold
