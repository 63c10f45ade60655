// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "options/job_options.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace pinfold {

struct RunOptions : JobOptions {
    bool help = false;
    bool version = false;
    std::optional<std::uint32_t> owner;
    std::optional<std::uint64_t> slots;
    bool shepherd = false;         ///< the command is a batch system's own process above the job
    char** command = nullptr;      ///< a part of main()'s argv, ended by a null pointer
    const char* program = nullptr; ///< the program to execute, if it differs from the first word of `command`
};

/// Makes the request for pinfoldd from these options.
WrapperCreate createRequest(const RunOptions& options);

/// Reads the command line. If argv[0] has another name than pinfold-run, no argument is an option, and all arguments are the
/// command. Error: InvalidArgument, with a message of one line.
Result<RunOptions> parseRunOptions(int argc, char** argv);

/// Returns the options that pinfold-run reads.
OptionSet runOptions(RunOptions& options);

std::string runUsage();

} // namespace pinfold
