// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/early_exit.hpp"
#include "cli/verbs.hpp"

#include <variant>
#include <vector>

namespace pinfold {

/// Holds the parsed command line: the verb and all options.
struct CommandLine {
    Verb verb; ///< the verb of the command line, and the values of the verb's options
    OutputOptions output;
};

std::variant<CommandLine, EarlyExit> parseCommandLine(int argc, char** argv, std::vector<Verb> verbs = allVerbs());

} // namespace pinfold
