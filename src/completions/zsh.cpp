// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/word_list.hpp"
#include "completions/commands.hpp"

namespace pinfold {
namespace {

constexpr const char* kZshHead = R"zsh(#compdef pinfold pinfold-run
# SPDX-License-Identifier: LGPL-2.1-or-later
# The build of pinfold has made this file from the tables of options in pinfold's sources.

_pinfold_live_jobs() {
    local -a jobs
    jobs=(${(f)"$(pinfold list --no-legend --no-pager -o key 2>/dev/null)"})
    compadd -a jobs # which quotes: keys are other users' text
}

_pinfold_ended_jobs() {
    local -a jobs
    jobs=(${(f)"$(pinfold history --no-pager -n 200 --json 2>/dev/null | sed -n 's/^ *"key": "\([^"\\]*\)",\{0,1\}$/\1/p' | sort -u)"})
    compadd -a jobs
}

_pinfold_all_jobs() {
    _pinfold_live_jobs
    _pinfold_ended_jobs
}

)zsh";

/// Returns the escaped text for use within single quotes, with a backslash before each character of `special`.
std::string escaped(std::string_view text, std::string_view special) {
    std::string out;
    for (const char c : text)
        if (c == '\'')
            out += "'\\''";
        else
            out += special.find(c) == std::string_view::npos ? std::string(1, c) : std::string("\\") + c;
    return out;
}

std::string zshQuoted(std::string_view text) { return "'" + escaped(text, "") + "'"; }

const char* functionOf(Offer offer) {
    switch (offer) {
    case Offer::LiveJobs:
        return "_pinfold_live_jobs";
    case Offer::EndedJobs:
        return "_pinfold_ended_jobs";
    case Offer::AllJobs:
        return "_pinfold_all_jobs";
    case Offer::Users:
        return "_users";
    case Offer::Groups:
        return "_groups";
    case Offer::Processes:
        return "_pids";
    case Offer::Directories:
        return "_directories";
    case Offer::Commands:
        return "_normal";
    case Offer::Nothing:
        break;
    }
    return " ";
}

/// Returns the specification of an option's value, such as ":STATE:(creating running)".
std::string valueOf(const Option& option) {
    const auto& words = option.words.empty() ? option.samples : option.words;
    std::string action = functionOf(option.offer);
    if (!words.empty())
        action = option.separator == ',' ? "_values -s , value " + joined(words, " ") : "(" + joined(words, " ") + ")";
    return ":" + (option.isArgument() ? option.name : std::string(option.value)) + ":" + action;
}

std::string argument(const Option& option, int position) {
    const auto value = valueOf(option);
    if (option.offer == Offer::Commands)
        return "'*:" + value + "'";
    return "'" + (option.values == Values::Several ? "*" : std::to_string(position)) + value + "'";
}

/// Returns the specification of one option in the form that the shell function _arguments needs (zshcompsys(1)).
std::string specification(const Option& option) {
    const auto text = "[" + escaped(option.help, "[]:\\") + "]";
    const bool value = !option.isFlag() && option.values != Values::Optional;
    const bool repeated = option.values == Values::Repeated || option.values == Values::Several;
    const auto rest = text + (value ? valueOf(option) : "") + "'";
    const auto name = option.name + (value ? "=" : "");
    if (option.letter == 0)
        return (repeated ? "'*" : "'") + name + rest;
    const auto letter = std::string("-") + option.letter;
    return (repeated ? "'*'" : "'(" + letter + " " + option.name + ")'") + "{" + letter + (value ? "+" : "") + "," + name + "}'" +
           rest;
}

std::string specifications(const OptionSet& options) {
    std::string text;
    int position = 0;
    for (const auto& option : options)
        text += " \\\n        " + (option.isArgument() ? argument(option, ++position) : specification(option));
    return text;
}

} // namespace

std::string zshScript(const Commands& commands) {
    auto common = commands.common;
    common.push_back({.name = "--version", .help = "show the version"});
    std::string text = kZshHead;
    text += "_pinfold_verb() {\n    case $1 in\n";
    for (const auto& verb : commands.verbs)
        text += "    " + verb.name + ") _arguments" + specifications(verb.withCommon(commands.common)) + " ;;\n";
    text += "    esac\n}\n\nlocal -a verbs\nverbs=(\n";
    for (const auto& verb : commands.verbs)
        text += "    " + zshQuoted(verb.name + ":" + verb.summary) + "\n";
    text += ")\nif [[ $service == pinfold-run ]]; then\n    _arguments" + specifications(commands.wrapper.options) +
            "\n    return\nfi\n_arguments -C" + specifications(common) +
            " \\\n        '1:command:->verb' '*::argument:->rest'\n"
            "case $state in\n"
            "verb) _describe 'command' verbs ;;\n"
            "rest) _pinfold_verb $words[1] ;;\n"
            "esac\n";
    return text;
}

} // namespace pinfold
