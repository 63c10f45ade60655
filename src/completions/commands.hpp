// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "options/option.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// Says what a shell may complete after one verb of pinfold, or after pinfold-run.
struct Command {
    std::string name;
    std::string summary;
    OptionSet options; ///< with the command's arguments

    /// Returns true if the command's argument is another command, whose own words follow.
    bool runsCommand() const;
    /// Returns the command's options and the common options. The common options are left out if another command follows, because
    /// that command would take them for its own.
    OptionSet withCommon(const OptionSet& common) const;
};

struct Commands {
    OptionSet common; ///< the options of pinfold that stand before or after a verb
    std::vector<Command> verbs;
    Command wrapper; ///< pinfold-run
};

Commands allCommands();

// Each function returns a script with the completions of one shell for pinfold and pinfold-run.
std::string bashScript(const Commands& commands);
std::string zshScript(const Commands& commands);
std::string fishScript(const Commands& commands);

} // namespace pinfold
