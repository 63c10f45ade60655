// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <map>
#include <string>

namespace pinfold {

/// Adds to this process's environment the variables that pinfoldd gave for a job. If a variable about a limit
/// (limit_variables.hpp) is already set, it keeps its value. But addToEnvironment() first removes each variable about a limit if
/// its value is the limit of another job. Such variables are set, for example, if a job submits a new job and passes its whole
/// environment to the new job.
void addToEnvironment(const std::map<std::string, std::string>& variables);

} // namespace pinfold
