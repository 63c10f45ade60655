// SPDX-License-Identifier: LGPL-2.1-or-later
// Describes a verb of the command line: its name, its options, its help and its action. Each verb has its own file (verb_*.cpp).
#pragma once

#include "base/error_code.hpp"
#include "cli/output.hpp"
#include "options/option.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace pinfold {

struct Verb {
    std::string name;
    std::string summary; ///< one line about the verb, for the help and for the completions of shells
    OptionSet options;
    /// Prints results to standard output and messages to standard error, and returns the exit status.
    std::function<ExitStatus(const VerbContext&)> run;
    /// Turns a word of the command line into an option of the verb, for example the -9 of `kill -9`. In most verbs, `reword` is
    /// unset.
    std::function<std::string(const std::string&)> reword = {};
};

/// Makes a verb. The function `describe` describes the options of the verb, and `run` does the work. The returned verb owns the
/// Options object.
template <class Options, class Run>
Verb makeVerb(std::string name, std::string summary, OptionSet (*describe)(Options&), Run run) {
    auto options = std::make_shared<Options>();
    auto set = describe(*options);
    return {std::move(name), std::move(summary), std::move(set),
            [options, run](const VerbContext& context) { return run(context, *options); }};
}

/// Makes a verb that has no options.
template <class Run> Verb makeVerb(std::string name, std::string summary, Run run) {
    return {std::move(name), std::move(summary), {}, run};
}

} // namespace pinfold
