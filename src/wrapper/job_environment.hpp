// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <map>
#include <string>

namespace pinfold {

/// Adds the variables that pinfoldd gave for a job to this process's environment. A variable about a limit (limit_variables.hpp)
/// keeps the value that it has. But addToEnvironment() first removes values that come from another job. For example, such values
/// exist if a job submitted this job with its whole environment.
void addToEnvironment(const std::map<std::string, std::string>& variables);

} // namespace pinfold
