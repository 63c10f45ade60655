// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/word_list.hpp"
#include "completions/commands.hpp"

namespace pinfold {
namespace {

constexpr const char* kBashHead = R"bash(# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# The build of pinfold has made this file from the tables of options in pinfold's sources.

_pinfold_live_jobs() { pinfold list --no-legend --no-pager -o key 2>/dev/null; }

_pinfold_ended_jobs() { pinfold history --no-pager -n 200 --json 2>/dev/null | sed -n 's/^ *"key": "\([^"\\]*\)",\{0,1\}$/\1/p' | sort -u; }

# Keys are other users' text: they are compared and quoted, and never given to compgen -W, which would expand them.
_pinfold_offer_keys() {
    local key quoted
    while IFS= read -r key; do
        printf -v quoted %q "$key"
        [[ $key == "$1"* || $quoted == "$1"* ]] && COMPREPLY+=("$quoted")
    done
}

# Offers the texts in $words, and texts of the kind $offer, as completions of the word $1. If $comma is "yes", the word is a list.
_pinfold_reply() {
    local prefix=''
    [[ $comma == yes && $1 == *,* ]] && prefix=${1%,*},
    case $offer in
    users) words+=" $(compgen -u)" ;;
    groups) words+=" $(compgen -g)" ;;
    esac
    mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$words" -- "${1#"$prefix"}")
    case $offer in
    live) _pinfold_offer_keys "$1" < <(_pinfold_live_jobs) ;;
    ended) _pinfold_offer_keys "$1" < <(_pinfold_ended_jobs) ;;
    all) _pinfold_offer_keys "$1" < <(_pinfold_live_jobs && _pinfold_ended_jobs) ;;
    directories) mapfile -t COMPREPLY < <(compgen -d -- "$1") ;;
    esac
}
)bash";

constexpr const char* kTail = R"bash(
# Prints the position of the command that the user wants to run. The words from position $1 on are the arguments of $2, which is
# "run" or "pinfold-run". Prints 0 if the user has not typed a command yet.
_pinfold_command_at() {
    local i words offer comma
    for ((i = $1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --) echo $((i + 1)) && return ;;
        -*) _pinfold_value "$2" "${COMP_WORDS[i]}" && ((++i)) ;;
        *) echo "$i" && return ;;
        esac
    done
    echo 0
}

# Offers the next word after "run" or "pinfold-run" ($2). The words from position $1 on are the arguments of $2.
_pinfold_offer_run() {
    local word=${COMP_WORDS[COMP_CWORD]} command words='' offer='' comma=no
    command=$(_pinfold_command_at "$1" "$2")
    if ((command > 0 && command < COMP_CWORD)); then
        if declare -F _command_offset >/dev/null; then
            _command_offset "$command"
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
    elif ((command > 0)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$word")
    elif _pinfold_value "$2" "${COMP_WORDS[COMP_CWORD - 1]}"; then
        _pinfold_reply "$word"
    elif [[ $word == -* ]]; then
        _pinfold_words "$2"
        words+=' --' offer=''
        _pinfold_reply "$word"
    else
        mapfile -t COMPREPLY < <(compgen -c -- "$word")
    fi
}

_pinfold_run() { _pinfold_offer_run 1 pinfold-run; }

_pinfold() {
    local verb='' i words='' offer='' comma=no
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        -*) _pinfold_value '' "${COMP_WORDS[i]}" && ((++i)) ;;
        *) verb=${COMP_WORDS[i]} && break ;;
        esac
    done
    words='' offer='' comma=no
    if ! _pinfold_value "$verb" "${COMP_WORDS[COMP_CWORD - 1]}"; then
        _pinfold_words "$verb"
        [[ $offer == commands ]] && _pinfold_offer_run $((i + 1)) "$verb" && return
    fi
    _pinfold_reply "${COMP_WORDS[COMP_CWORD]}"
}

complete -F _pinfold pinfold
complete -F _pinfold_run pinfold-run
)bash";

const char* wordOf(Offer offer) {
    switch (offer) {
    case Offer::LiveJobs:
        return "live";
    case Offer::EndedJobs:
        return "ended";
    case Offer::AllJobs:
        return "all";
    case Offer::Users:
        return "users";
    case Offer::Groups:
        return "groups";
    case Offer::Directories:
        return "directories";
    case Offer::Commands:
        return "commands";
    case Offer::Processes: // bash has no completion for processes
    case Offer::Nothing:
        break;
    }
    return "";
}

/// Returns shell code that sets the variables for the shell function _pinfold_reply.
std::string assignments(const std::string& words, Offer offer, bool comma) {
    std::string text;
    if (!words.empty())
        text += " words='" + words + "'";
    if (*wordOf(offer) != '\0')
        text += std::string(" offer=") + wordOf(offer);
    return text + (comma ? " comma=yes" : "");
}

/// Returns one `case` branch for each option whose value is the next word on the command line.
std::string valueCases(const std::string& command, const OptionSet& options) {
    std::string text;
    for (const auto& option : options) {
        if (option.isArgument() || option.isFlag() || option.values == Values::Optional)
            continue;
        text += "    '" + command + " " + option.name + "'";
        if (option.letter != 0)
            text += " | '" + command + " -" + option.letter + "'";
        text += ")" +
                assignments(joined(option.words.empty() ? option.samples : option.words, " "), option.offer,
                            option.separator == ',') +
                " ;;\n";
    }
    return text;
}

std::vector<std::string> wordsOf(const OptionSet& options) {
    std::vector<std::string> names;
    for (const auto& option : options) {
        if (option.isArgument())
            continue;
        if (option.letter != 0)
            names.push_back(std::string("-") + option.letter);
        names.push_back(option.name);
    }
    return names;
}

std::string wordsCase(const std::string& command, const std::vector<std::string>& words, const OptionSet& options) {
    auto offer = Offer::Nothing;
    for (const auto& option : options) // only the last argument can have several values
        offer = option.isArgument() && option.offer != Offer::Nothing ? option.offer : offer;
    return "    '" + command + "')" + assignments(joined(words, " "), offer, false) + " ;;\n";
}

} // namespace

std::string bashScript(const Commands& commands) {
    auto names = wordsOf(commands.common);
    names.emplace_back("--version");
    for (auto verb = commands.verbs.rbegin(); verb != commands.verbs.rend(); ++verb)
        names.insert(names.begin(), verb->name);
    auto values = valueCases("", commands.common) + valueCases(commands.wrapper.name, commands.wrapper.options);
    auto words =
        wordsCase("", names, {}) + wordsCase(commands.wrapper.name, wordsOf(commands.wrapper.options), commands.wrapper.options);
    for (const auto& verb : commands.verbs) {
        const auto options = verb.withCommon(commands.common);
        values += valueCases(verb.name, options);
        words += wordsCase(verb.name, wordsOf(options), options);
    }
    return std::string(kBashHead) +
           "\n# Describes the value of the option $2 of the command $1 in the variables words, offer and comma. Fails if the "
           "option has no value.\n"
           "_pinfold_value() {\n    case \"$1 $2\" in\n" +
           values +
           "    *) return 1 ;;\n    esac\n}\n"
           "\n# Sets the variables words and offer to the options and the arguments of the command $1.\n"
           "_pinfold_words() {\n    case $1 in\n" +
           words + "    esac\n}\n" + kTail;
}

} // namespace pinfold
