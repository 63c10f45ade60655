// SPDX-License-Identifier: LGPL-2.1-or-later
#include "options/help.hpp"

#include "base/word_list.hpp"
#include "wording/wrap.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace pinfold {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kColumn = 28;    ///< the column in which the help texts begin
constexpr std::size_t kMostWords = 12; ///< the help lists the words of an option only if the option has at most kMostWords words

std::string nameInHelp(const Option& option) {
    if (option.isArgument())
        return option.name;
    std::string name = option.letter == 0 ? "    " + option.name : std::string("-") + option.letter + ", " + option.name;
    if (option.isFlag())
        return name;
    const std::string value(option.value);
    return name + (option.values == Values::Optional ? "[=" + value + "]" : " " + value);
}

std::string helpOf(const Option& option) {
    const bool listed = !option.words.empty() && option.words.size() <= kMostWords;
    return std::string(option.help) + (listed ? "; " + std::string(option.value) + " is " + enumerated(option.words) : "");
}

std::string_view headlineOf(const Option& option) {
    if (!option.group.empty())
        return option.group;
    return option.isArgument() ? "Arguments" : "Options";
}

} // namespace

std::string helpEntry(const std::string& name, std::string_view help, std::size_t column) {
    const auto start = "  " + name;
    const bool fits = start.size() + 2 <= column;
    return start + (fits ? std::string(column - start.size(), ' ') : "\n" + std::string(column, ' ')) +
           wrapped(help, kWidth, column) + "\n";
}

std::string usageLine(const std::string& command, const OptionSet& options) {
    auto line = command + " [OPTIONS]";
    for (const auto& option : options)
        if (option.isArgument()) {
            const auto name = option.name + (option.values == Values::Several ? "..." : "");
            line += option.required ? " " + name : " [" + name + "]";
        } else if (option.required) {
            line += " " + option.name + " " + std::string(option.value);
        }
    return line;
}

std::string optionsHelp(const OptionSet& options) {
    std::vector<std::pair<std::string_view, std::string>> groups;
    const auto entriesOf = [&groups](std::string_view headline) -> std::string& {
        const auto known = std::ranges::find(groups, headline, &std::pair<std::string_view, std::string>::first);
        return known == groups.end() ? groups.emplace_back(headline, "").second : known->second;
    };
    for (const bool arguments : {true, false})
        for (const auto& option : options)
            if (option.isArgument() == arguments)
                entriesOf(headlineOf(option)) += helpEntry(nameInHelp(option), helpOf(option), kColumn);
    std::string text;
    for (const auto& [headline, entries] : groups)
        text += "\n" + std::string(headline) + ":\n" + entries;
    return text;
}

} // namespace pinfold
