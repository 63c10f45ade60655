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

/// Stores the value that the user typed for an option. For a flag, the value is "". Returns an error if the option's parser
/// rejects the value.
using OptionSetter = std::function<Result<void>(const std::string&)>;

/// Says how many values the user can give for an option or an argument.
enum class Values {
    One,
    Optional, ///< the option has no value, or one value after "="
    Repeated, ///< each use of the option has one value, and the user can give the option several times
    Several,  ///< each use of the option has one or more values
};

/// A shell's completion offers the words in Option::words as the value of an option. An Offer stands for values that exist only
/// on the running system, such as user names.
enum class Offer { Nothing, LiveJobs, EndedJobs, AllJobs, Users, Groups, Processes, Directories, Commands };

/// Refers to a text that exists until the program ends, such as a literal. StaticText does not copy the text. Each job's
/// supervisor has a table of options, and copies of the texts would take memory in each supervisor.
class StaticText : public std::string_view {
public:
    constexpr StaticText(const char* text = "") : std::string_view(text) {}
    StaticText(const std::string&) = delete;
};

struct Option {
    std::string name;      ///< the name of the option, such as "--state"; the name of an argument has no dashes, such as "JOB"
    char letter = 0;       ///< the short form of the option, such as 'u' for -u
    StaticText value = {}; ///< the word for the value in the help, such as "STATE"; empty for a flag
    StaticText help;
    OptionSetter set = {}; ///< the function that stores the value; empty if the parser itself handles the option, such as --help
    Values values = Values::One;
    /// The character that separates several values in one argument. With Values::One, the setter gets the whole argument,
    /// including separators.
    char separator = 0;
    std::vector<std::string> words = {};   ///< the complete list of possible values; empty if no such list exists
    std::vector<std::string> samples = {}; ///< the values that a shell's completion offers; further values are possible
    Offer offer = Offer::Nothing;
    bool required = false;
    StaticText excludes = {}; ///< the name of an option that must not be given together with this option
    StaticText needs = {};    ///< the name of an option that must be given together with this option
    StaticText group = {};    ///< the headline above the option in the help; if `group` is empty, the headline is "Options"

    bool isArgument() const { return name[0] != '-'; }
    bool isFlag() const { return value.empty() && !isArgument(); }
};

using OptionSet = std::vector<Option>;

/// Returns the option with this name ("--user") or letter ("-u"), or nullptr if no option has the name or letter.
const Option* findOption(const OptionSet& options, std::string_view word);

/// Sets an option to `text`, the value that the user typed. The error is InvalidArgument, or the error that the setter returned.
/// The message of each error names the option.
Result<void> apply(const Option& option, const std::string& text);

/// Returns the names of all options and arguments.
std::vector<std::string> namesOf(const OptionSet& options);

/// Adds the options in `more` to the end of `options`.
void append(OptionSet& options, OptionSet more);

OptionSetter into(bool& target); ///< returns a setter that sets `target` to true
OptionSetter into(std::string& target);
OptionSetter into(std::optional<std::string>& target);
OptionSetter into(std::vector<std::string>& target); ///< returns a setter that adds each value to `target`

/// Returns a function that reads a number, and accepts only digits.
std::function<Result<std::uint64_t>(const std::string&)> numberFrom(std::uint64_t least, std::uint64_t most = UINT64_MAX);

template <class T> struct Held { using Type = T; };
template <class T> struct Held<std::optional<T>> { using Type = T; };

/// Returns a setter that parses the text with `parse`, and stores the result in `target`.
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
