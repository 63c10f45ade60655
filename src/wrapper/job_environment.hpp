// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <map>
#include <string>

namespace pinfold {

/// Adds to this process's environment the variables that pinfoldd gave for a job. If a variable about a limit
/// (limit_variables.hpp) is already set, the variable keeps its value. But addToEnvironment() first removes each variable about a
/// limit if its value is the limit of another job. A variable may have the limit of another job if a job has submitted a new
/// job with its whole environment.
void addToEnvironment(const std::map<std::string, std::string>& variables);

} // namespace pinfold
