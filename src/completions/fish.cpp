// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/word_list.hpp"
#include "completions/commands.hpp"

namespace pinfold {
namespace {

constexpr const char* kFishHead = R"fish(# SPDX-License-Identifier: LGPL-2.1-or-later
# The build of pinfold has made this file from the tables of options in pinfold's sources.

function __pinfold_live_jobs
    pinfold list --no-legend --no-pager -o key 2>/dev/null
end

function __pinfold_ended_jobs
    pinfold history --no-pager -n 200 --json 2>/dev/null | string replace -rf '^ *"key": "([^"\\\\]*)",?$' '$1' | sort -u
end

complete -c pinfold -f
)fish";

std::string fishQuoted(std::string_view text) {
    std::string out = "'";
    for (const char c : text)
        out += (c == '\'' || c == '\\' ? "\\" : "") + std::string(1, c);
    return out + "'";
}

std::string valuesOf(const Option& option) {
    switch (option.offer) {
    case Offer::LiveJobs:
        return "(__pinfold_live_jobs)";
    case Offer::EndedJobs:
        return "(__pinfold_ended_jobs)";
    case Offer::AllJobs:
        return "(__pinfold_live_jobs; __pinfold_ended_jobs)";
    case Offer::Users:
        return "(__fish_complete_users)";
    case Offer::Groups:
        return "(__fish_complete_groups)";
    case Offer::Processes:
        return "(__fish_complete_pids)";
    case Offer::Directories:
        return "(__fish_complete_directories)";
    case Offer::Commands:
    case Offer::Nothing:
        break;
    }
    return joined(option.words.empty() ? option.samples : option.words, " ");
}

/// Returns one line of the script. The line begins with the text `start`, for example with "complete -c pinfold-run".
std::string line(const std::string& start, const Option& option) {
    const auto values = valuesOf(option);
    auto text = start;
    if (option.isArgument())
        return values.empty() ? "" : text + " -a " + fishQuoted(values) + "\n";
    if (option.letter != 0)
        text += std::string(" -s ") + option.letter;
    text += " -l " + option.name.substr(2);
    if (!option.isFlag() && option.values != Values::Optional)
        text += " -x" + (values.empty() ? "" : " -a " + fishQuoted(values));
    return text + " -d " + fishQuoted(option.help) + "\n";
}

} // namespace

std::string fishScript(const Commands& commands) {
    std::string text = kFishHead;
    std::string running; // the verbs whose arguments are another command
    for (const auto& verb : commands.verbs) {
        text += "complete -c pinfold -n __fish_use_subcommand -a " + verb.name + " -d " + fishQuoted(verb.summary) + "\n";
        running += verb.runsCommand() ? " " + verb.name : "";
    }
    for (const auto& option : commands.common)
        text += line("complete -c pinfold -n 'not __fish_seen_subcommand_from" + running + "'", option);
    text += "complete -c pinfold -n __fish_use_subcommand -l version -d 'show the version'\n";
    for (const auto& verb : commands.verbs) {
        const auto start = "complete -c pinfold -n '__fish_seen_subcommand_from " + verb.name + "'";
        for (const auto& option : verb.options)
            text += line(start, option);
        if (verb.runsCommand())
            text += start + " -a '(__fish_complete_subcommand --fcs-skip=2)'\n";
    }
    const std::string start = "complete -c " + commands.wrapper.name;
    text += "\n" + start + " -x -a '(__fish_complete_subcommand)'\n";
    for (const auto& option : commands.wrapper.options)
        text += line(start, option);
    return text;
}

} // namespace pinfold
