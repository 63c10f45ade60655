// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wrapper/job_environment.hpp"

#include "model/limit_variables.hpp"

#include <cstdlib>

namespace pinfold {

void addToEnvironment(const std::map<std::string, std::string>& variables) {
    const char* before = std::getenv(kJobVariable);
    const auto job = variables.find(kJobVariable);
    if (before && job != variables.end() && job->second != before)
        for (const char* name : kLimitVariables)
            ::unsetenv(name);
    for (const auto& [name, value] : variables)
        ::setenv(name.c_str(), value.c_str(), isLimitVariable(name) ? 0 : 1);
}

} // namespace pinfold
