// SPDX-License-Identifier: LGPL-2.1-or-later
// Only cli/command_line.cpp includes the headers of CLI11, because the headers take seconds to compile.
#include "cli/command_line.hpp"

#include "base/escape.hpp"
#include "build_config.hpp"
#include "cli/help_page.hpp"
#include "options/words.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include <algorithm>

namespace pinfold {
namespace {

using Texts = std::vector<std::string>;

constexpr std::size_t kMostText = 2000; // an error message lists the valid words only if the list is not longer than kMostText

void set(const Option& option, const std::string& text) {
    const bool withoutValue = option.values == Values::Optional && text.empty();
    if (auto done = withoutValue ? option.set("") : apply(option, text); !done)
        throw CLI::ValidationError(done.error().message);
}

void addFlag(CLI::App& app, const std::string& names, const Option& option) {
    app.add_flag_callback(names, [&option] { set(option, ""); });
}

/// Returns the values as the user typed them. If the user typed the value "{}", CLI11 2.3 and later believes that the value is an
/// empty list, and adds "%%" to the values. withoutMark() removes the "%%".
CLI::results_t withoutMark(const CLI::results_t& texts) {
    return texts == CLI::results_t{"{}", "%%"} ? CLI::results_t{"{}"} : texts;
}

/// addValue() passes the user's texts unchanged to the setters. If CLI11 converted the user's texts, CLI11 would read the text
/// "{}" as an empty list.
void addValue(CLI::App& app, const std::string& names, const Option& option) {
    const CLI::callback_t setAll = [&option](const CLI::results_t& texts) {
        for (const auto& text : withoutMark(texts))
            set(option, text);
        return true;
    };
    constexpr int unlimited = -1;
    auto* added = app.add_option(names, setAll)->type_name(std::string(option.value))->required(option.required);
    if (option.values == Values::One)
        added->expected(1);
    else if (option.values == Values::Optional)
        added->expected(0, 1);
    else
        added->expected(1, unlimited);
    added->allow_extra_args(option.values == Values::Several);
    if (option.separator != 0 && (option.values == Values::Several || option.values == Values::Repeated))
        added->delimiter(option.separator);
}

void addOptions(CLI::App& app, const OptionSet& options) {
    for (const auto& option : options) {
        const auto names = (option.letter == 0 ? "" : std::string("-") + option.letter + ",") + option.name;
        if (option.set)
            option.isFlag() ? addFlag(app, names, option) : addValue(app, names, option);
    }
    for (const auto& option : options) {
        if (!option.excludes.empty())
            app.get_option(option.name)->excludes(app.get_option(std::string(option.excludes)));
        if (!option.needs.empty())
            app.get_option(option.name)->needs(app.get_option(std::string(option.needs)));
    }
}

/// Skips the program's name and all words that begin with '-', and returns the next word.
std::string firstWord(int argc, char** argv) {
    const auto* const word = std::find_if(argv + std::min(argc, 1), argv + argc, [](const char* text) { return text[0] != '-'; });
    return word == argv + argc ? "" : *word;
}

const Verb* findVerb(const std::vector<Verb>& verbs, const std::string& name) {
    const auto found = std::ranges::find(verbs, name, &Verb::name);
    return found == verbs.end() ? nullptr : &*found;
}

/// Returns the words of the command line in reverse order, as CLI11 expects them.
Texts wordsOf(int argc, char** argv, const Verb* verb) {
    Texts words;
    for (int i = argc - 1; i > 0; --i)
        words.push_back(verb && verb->reword ? verb->reword(argv[i]) : argv[i]);
    return words;
}

EarlyExit usageError(const std::string& what, const std::string& command) {
    return {static_cast<int>(ExitStatus::Usage), fmt::format("pinfold: {}; see {} --help\n", what, command)};
}

EarlyExit unknownVerb(const std::string& word, const std::vector<Verb>& verbs) {
    Texts names;
    std::ranges::transform(verbs, std::back_inserter(names), &Verb::name);
    return usageError(fmt::format("unknown command '{}'{}", printable(word, 100), correction(word, names)), "pinfold");
}

/// If the user typed an unknown option, suggests the option that the user probably wanted to type.
std::string similarTo(const Texts& extra, const Verb& verb, const OptionSet& common) {
    auto names = namesOf(verb.options);
    std::ranges::copy(namesOf(common), std::back_inserter(names));
    return extra.empty() ? "" : suggestion(extra.front().substr(0, extra.front().find('=')), names);
}

} // namespace

std::variant<CommandLine, EarlyExit> parseCommandLine(int argc, char** argv, std::vector<Verb> verbs) {
    if (argc < 2)
        return EarlyExit{static_cast<int>(ExitStatus::Usage), helpPage(verbs)};
    OutputOptions output;
    const auto common = outputOptions(output);
    CLI::App app;
    app.fallthrough()->require_subcommand(1);
    app.set_version_flag("--version", "pinfold " PINFOLD_VERSION);
    addOptions(app, common);
    for (const auto& verb : verbs) {
        auto& command = *app.add_subcommand(verb.name);
        // If pinfold added the options of all verbs, a short command such as `pinfold status` would take a fifth more CPU time.
        if (std::find(argv + 1, argv + argc, verb.name) != argv + argc)
            addOptions(command, verb.options);
    }
    const auto wanted = firstWord(argc, argv);
    const auto chosen = [&] {
        const auto parsed = app.get_subcommands();
        return parsed.empty() ? nullptr : findVerb(verbs, parsed.front()->get_name());
    };
    try {
        app.parse(wordsOf(argc, argv, findVerb(verbs, wanted)));
    } catch (const CLI::CallForVersion& version) {
        return EarlyExit{0, std::string(version.what()) + "\n"};
    } catch (const CLI::CallForHelp&) {
        return EarlyExit{0, chosen() ? helpPage(*chosen()) : helpPage(verbs)};
    } catch (const CLI::ExtrasError& error) {
        const auto* verb = chosen();
        const auto extra = app.remaining(true);
        return usageError(printable(error.what(), kMostText) + (verb ? similarTo(extra, *verb, common) : ""),
                          verb ? "pinfold " + verb->name : "pinfold");
    } catch (const CLI::ParseError& error) {
        if (const auto* verb = chosen())
            return usageError(printable(error.what(), kMostText), "pinfold " + verb->name);
        return wanted.empty() ? usageError(printable(error.what(), kMostText), "pinfold") : unknownVerb(wanted, verbs);
    }
    return CommandLine{*chosen(), output};
}

} // namespace pinfold
