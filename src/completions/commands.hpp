// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "options/option.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// What a shell may complete after one verb of pinfold, or after pinfold-run.
struct Command {
    std::string name;
    std::string summary;
    OptionSet options; ///< with its arguments

    /// Its argument is a command, whose own words follow.
    bool runsCommand() const;
    /// Its options and those that all verbs have, unless the other command would take these for its own.
    OptionSet withCommon(const OptionSet& common) const;
};

struct Commands {
    OptionSet common; ///< the options of pinfold that stand before or after a verb
    std::vector<Command> verbs;
    Command wrapper; ///< pinfold-run
};

Commands allCommands();

// The completions of each shell for pinfold and pinfold-run, as a script.
std::string bashScript(const Commands& commands);
std::string zshScript(const Commands& commands);
std::string fishScript(const Commands& commands);

} // namespace pinfold
