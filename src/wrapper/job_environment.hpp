// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <map>
#include <string>

namespace pinfold {

/// Adds the variables that pinfoldd gave for a job to this process's environment. If a variable about a limit
/// (limit_variables.hpp) is already set, it keeps its value. But addToEnvironment() first removes the values of these variables
/// that come from another job. For example, values of another job are set if the other job submitted this job with its whole
/// environment.
void addToEnvironment(const std::map<std::string, std::string>& variables);

} // namespace pinfold
