// SPDX-License-Identifier: LGPL-2.1-or-later
// The options of a command as a table. The parser, the help and the completions of the shells are made from the same table.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Takes one value as typed; for a flag, "". Errors: those of the value's own parser.
using OptionSetter = std::function<Result<void>(const std::string&)>;

/// How many values follow an option or make an argument.
enum class Values {
    One,
    Optional, ///< none, or one after "="
    Repeated, ///< one each time, and the option may be given several times
    Several,  ///< one or more each time
};

/// What a shell offers for a value, besides the option's words.
enum class Offer { Nothing, LiveJobs, EndedJobs, AllJobs, Users, Groups, Processes, Directories, Commands };

struct Option {
    std::string name;       ///< "--state"; an argument has no dashes: "JOB"
    char letter = 0;        ///< 'u' for -u
    std::string value = {}; ///< what stands for the value in the help: "STATE"; empty: a flag
    std::string help;
    OptionSetter set = {}; ///< empty: the parser itself does what the option says (--help)
    Values values = Values::One;
    char separator = 0; ///< between several values in one word. With Values::One the setter takes the word as a whole
    std::vector<std::string> words = {};   ///< the only values that there are; empty: there are others
    std::vector<std::string> samples = {}; ///< values that a shell offers, among others
    Offer offer = Offer::Nothing;
    bool required = false;
    std::string excludes = {}; ///< the name of an option that must not be given with this one
    std::string needs = {};    ///< the name of an option that must be given with this one
    std::string group = {};    ///< a headline of the help; empty: "Options"

    bool isArgument() const { return name[0] != '-'; }
    bool isFlag() const { return value.empty() && !isArgument(); }
};

using OptionSet = std::vector<Option>;

/// nullptr: no option has this name ("--user") or letter ("-u").
const Option* findOption(const OptionSet& options, std::string_view word);

/// Sets an option to what was typed. Error: InvalidArgument or the setter's, with a message that names the option.
Result<void> apply(const Option& option, const std::string& text);

/// The names of all options and arguments.
std::vector<std::string> namesOf(const OptionSet& options);

/// Adds the options of `more` at the end.
void append(OptionSet& options, OptionSet more);

OptionSetter into(bool& target); ///< sets it to true
OptionSetter into(std::string& target);
OptionSetter into(std::optional<std::string>& target);
OptionSetter into(std::vector<std::string>& target); ///< adds a value

/// Reads a number of digits only.
std::function<Result<std::uint64_t>(const std::string&)> numberFrom(std::uint64_t least, std::uint64_t most = UINT64_MAX);

template <class T> struct Held { using Type = T; };
template <class T> struct Held<std::optional<T>> { using Type = T; };

/// Sets the target to what `parse` makes of the text.
template <class T, class Parse> OptionSetter into(T& target, Parse parse) {
    return [&target, parse](const std::string& text) -> Result<void> {
        auto value = parse(text);
        if (!value)
            return value.error();
        target = static_cast<typename Held<T>::Type>(*std::move(value));
        return {};
    };
}

} // namespace pinfold
