// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <map>
#include <string>

namespace pinfold {

/// Adds `variables` to the environment of this process. pinfoldd chooses the variables for each job. If a variable about a
/// limit (limit_variables.hpp) is already set, the variable keeps its value. If a variable contains the limit of another job,
/// addToEnvironment() first removes the variable. If a job passes its environment to a new job, the new job starts with the
/// limit variables of the old job.
void addToEnvironment(const std::map<std::string, std::string>& variables);

} // namespace pinfold
