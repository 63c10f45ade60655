// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/verbs.hpp"

#include <string>
#include <variant>
#include <vector>

namespace pinfold {

/// What the user typed.
struct CommandLine {
    Verb verb; ///< its options are set
    OutputOptions output;
};

/// Text to print and the status to exit with, in place of a verb (help, usage errors).
struct EarlyExit {
    int status = 0;
    std::string text;
};

std::variant<CommandLine, EarlyExit> parseCommandLine(int argc, char** argv, std::vector<Verb> verbs = allVerbs());

} // namespace pinfold
