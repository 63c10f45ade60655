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
    char** command = nullptr; ///< the command line of the job: a part of main()'s argv, with a null pointer at its end
};

/// Converts the options of pinfold-run into the request that pinfold-run sends to pinfoldd.
WrappedCommand wrappedCommand(const RunOptions& options);

/// Reads the command line. If argv[0] is not pinfold-run, the program has no options, and all arguments are the command. The
/// message of the error InvalidArgument has one line.
Result<RunOptions> parseRunOptions(int argc, char** argv);

/// Returns the options that pinfold-run reads.
OptionSet runOptions(RunOptions& options);

std::string runUsage();

} // namespace pinfold
