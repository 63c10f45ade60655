// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "options/option.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// Describes the words that a shell can complete after one verb of pinfold, or after pinfold-run.
struct Command {
    std::string name;
    std::string summary;
    OptionSet options; ///< the options and the arguments of the command

    /// Returns true if the argument of the command is a second command with its arguments, as in `pinfold run`.
    bool runsCommand() const;
    /// Returns the command's own options and the common options of pinfold. If the command runs a second command (runsCommand()),
    /// withCommon() leaves out all common options except --help. After `pinfold run`, pinfold handles only the common option
    /// --help, and passes all other common options to the second command.
    OptionSet withCommon(const OptionSet& common) const;
};

struct Commands {
    OptionSet common; ///< the options of pinfold that stand before or after a verb
    std::vector<Command> verbs;
    Command wrapper; ///< the command pinfold-run
};

Commands allCommands();

// bashScript(), zshScript() and fishScript() each return the completion script for one shell. A completion script covers pinfold
// and pinfold-run.
std::string bashScript(const Commands& commands);
std::string zshScript(const Commands& commands);
std::string fishScript(const Commands& commands);

} // namespace pinfold
