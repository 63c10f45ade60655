// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "options/job_options.hpp"
#include "wrapper/wrapped_command.hpp"

#include <string>

namespace pinfold {

struct RunOptions : JobOptions {
    bool help = false;
    bool version = false;
    char** command = nullptr; ///< a part of main()'s argv, ended by a null pointer
};

/// Makes the request for pinfoldd from these options.
WrappedCommand wrappedCommand(const RunOptions& options);

/// Reads the command line. If argv[0] has another name than pinfold-run, no argument is an option, and all arguments are the
/// command. Error: InvalidArgument, with a message of one line.
Result<RunOptions> parseRunOptions(int argc, char** argv);

/// Returns the options that pinfold-run reads.
OptionSet runOptions(RunOptions& options);

std::string runUsage();

} // namespace pinfold
