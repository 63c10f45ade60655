// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/verbs.hpp"

#include <string>
#include <variant>
#include <vector>

namespace pinfold {

/// Holds what the user typed.
struct CommandLine {
    Verb verb; ///< the verb, with its options set
    OutputOptions output;
};

/// Holds text to print and the status to exit with, if there is no verb to run (help, usage errors).
struct EarlyExit {
    int status = 0;
    std::string text;
};

std::variant<CommandLine, EarlyExit> parseCommandLine(int argc, char** argv, std::vector<Verb> verbs = allVerbs());

} // namespace pinfold
