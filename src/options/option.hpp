// SPDX-License-Identifier: LGPL-2.1-or-later
// Describes the options of a command as a table. The parser, the help and the completions of the shells use the same table.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Stores the value that the user typed for an option. For a flag, the value is "". Returns the errors of the value's parser.
using OptionSetter = std::function<Result<void>(const std::string&)>;

/// Says how many values an option or an argument has.
enum class Values {
    One,
    Optional, ///< no value, or one value after "="
    Repeated, ///< one value each time, and the user may give the option several times
    Several,  ///< one or more each time
};

/// Says what a shell's completion offers as the value of an option, in addition to the words in Option::words.
enum class Offer { Nothing, LiveJobs, EndedJobs, AllJobs, Users, Groups, Processes, Directories, Commands };

struct Option {
    std::string name;       ///< for example "--state"; an argument has no dashes: "JOB"
    char letter = 0;        ///< 'u' for -u
    std::string value = {}; ///< the word for the value in the help, such as "STATE"; empty for a flag
    std::string help;
    OptionSetter set = {}; ///< if empty, the parser itself does what the option says (--help)
    Values values = Values::One;
    char separator = 0; ///< the character between several values in one word; with Values::One the setter takes the word as a
                        ///< whole
    std::vector<std::string> words = {};   ///< all possible values; empty if other values are possible too
    std::vector<std::string> samples = {}; ///< some of the possible values, which a shell offers
    Offer offer = Offer::Nothing;
    bool required = false;
    std::string excludes = {}; ///< the name of an option that must not be given with this one
    std::string needs = {};    ///< the name of an option that must be given with this one
    std::string group = {};    ///< a headline of the help; if empty, "Options"

    bool isArgument() const { return name[0] != '-'; }
    bool isFlag() const { return value.empty() && !isArgument(); }
};

using OptionSet = std::vector<Option>;

/// Returns the option with this name ("--user") or letter ("-u"), or nullptr if there is none.
const Option* findOption(const OptionSet& options, std::string_view word);

/// Sets an option to `text`, the value that the user typed. Errors: InvalidArgument and the errors of the setter. The error
/// message names the option.
Result<void> apply(const Option& option, const std::string& text);

/// Returns the names of all options and arguments.
std::vector<std::string> namesOf(const OptionSet& options);

/// Adds the options of `more` at the end.
void append(OptionSet& options, OptionSet more);

OptionSetter into(bool& target); ///< sets the target to true
OptionSetter into(std::string& target);
OptionSetter into(std::optional<std::string>& target);
OptionSetter into(std::vector<std::string>& target); ///< adds a value to the target

/// Returns a function that reads a number, and accepts only digits.
std::function<Result<std::uint64_t>(const std::string&)> numberFrom(std::uint64_t least, std::uint64_t most = UINT64_MAX);

template <class T> struct Held { using Type = T; };
template <class T> struct Held<std::optional<T>> { using Type = T; };

/// Returns a setter that parses the text with `parse`, and stores the result in the target.
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
