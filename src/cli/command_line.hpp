// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/verbs.hpp"

#include <string>
#include <variant>
#include <vector>

namespace pinfold {

/// Holds the parsed command line: the verb and all options.
struct CommandLine {
    Verb verb; ///< the verb of the command line, with its options set
    OutputOptions output;
};

/// Holds the text and the exit status for a command line that runs no verb: a call for help, or a usage error.
struct EarlyExit {
    int status = 0;
    std::string text;
};

std::variant<CommandLine, EarlyExit> parseCommandLine(int argc, char** argv, std::vector<Verb> verbs = allVerbs());

} // namespace pinfold
