// SPDX-License-Identifier: LGPL-2.1-or-later
#include "completions/commands.hpp"

#include "cli/verbs.hpp"
#include "run/options.hpp"

#include <algorithm>

namespace pinfold {

bool Command::runsCommand() const {
    return std::ranges::any_of(options, [](const Option& option) { return option.offer == Offer::Commands; });
}

OptionSet Command::withCommon(const OptionSet& common) const {
    auto all = options;
    for (const auto& option : common)
        if (!findOption(options, option.name) && (!runsCommand() || option.name == "--help"))
            all.push_back(option);
    return all;
}

Commands allCommands() {
    // The options that allCommands() returns contain pointers to local variables of allCommands(). After allCommands() has
    // returned, the pointers in the options are invalid. The callers of allCommands() must not parse a command line with the
    // returned options, because the parser would use the invalid pointers.
    OutputOptions output;
    Commands commands{.common = outputOptions(output), .verbs = {}, .wrapper = {}};
    for (auto& verb : allVerbs())
        commands.verbs.push_back({verb.name, verb.summary, verb.options});
    RunOptions run;
    commands.wrapper = {"pinfold-run", "", runOptions(run)};
    commands.wrapper.options.push_back({.name = "COMMAND", .help = "the command", .offer = Offer::Commands});
    return commands;
}

} // namespace pinfold
