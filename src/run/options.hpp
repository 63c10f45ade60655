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

/// The command with the request for pinfoldd that these options make.
WrappedCommand wrappedCommand(const RunOptions& options);

/// If argv[0] has another name than pinfold-run, no argument is read as an option, and all of them are the command. Error:
/// InvalidArgument, with a message of one line.
Result<RunOptions> parseRunOptions(int argc, char** argv);

/// The options that pinfold-run reads.
OptionSet runOptions(RunOptions& options);

std::string runUsage();

} // namespace pinfold
