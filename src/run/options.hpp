// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "model/allocation.hpp"
#include "model/resource_limits.hpp"

#include <string>

namespace pinfold {

struct RunOptions {
    std::string key; ///< empty: pinfoldd picks one
    bool inPlace = false;
    bool help = false;
    bool version = false;
    ResourceLimits limits;
    AllocationRequest allocation;
    char** command = nullptr; ///< of main()'s argv, ended by a null pointer
};

/// argv[0] decides: under any other name than pinfold-run no argument is read as an option, all of them are the command.
/// Error: InvalidArgument, one line.
Result<RunOptions> parseRunOptions(int argc, char** argv);

std::string runUsage();

} // namespace pinfold
