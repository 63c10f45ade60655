// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/strays_command_line.hpp"

#include "cli/stray_options.hpp"

#include <CLI/CLI.hpp>

namespace pinfold {
namespace {

/// Sets a member of StraysConfig from the option's text.
template <class T> void addSetting(CLI::App* strays, CommandLine& line, const std::string& name, T StraysConfig::*member,
                                   Result<T> (*parse)(const std::string&), const std::string& help) {
    strays
        ->add_option_function<std::string>(
            name,
            [&line, member, parse](const std::string& text) {
                auto value = parse(text);
                if (!value)
                    throw CLI::ValidationError(value.error().message);
                line.strays.settings.emplace_back(
                    [member, value = std::move(*value)](StraysConfig& config) { config.*member = value; });
            },
            help)
        ->type_name("");
}

/// Adds a list that extends the site's list: users whom the site exempts stay exempt.
void addExemption(CLI::App* strays, CommandLine& line, const std::string& name, std::vector<std::string> StraysConfig::*member,
                  const std::string& help) {
    strays
        ->add_option_function<std::vector<std::string>>(
            name,
            [&line, member](const std::vector<std::string>& texts) {
                line.strays.settings.emplace_back([member, texts](StraysConfig& config) {
                    (config.*member).insert((config.*member).end(), texts.begin(), texts.end());
                });
            },
            help)
        ->delimiter(',')
        ->type_name("");
}

void addStrayFilters(CLI::App* strays, CommandLine& line) {
    addSetting(strays, line, "--min-uid", &StraysConfig::minUid, parseUserId,
               "show only processes of users from this id on (default 1000)");
    addSetting(strays, line, "--max-uid", &StraysConfig::maxUid, parseUserId, "show only processes of users up to this id");
    addSetting(strays, line, "--users", &StraysConfig::users, parseNames, "show only processes of these users (names or ids)");
    addExemption(strays, line, "--exempt-users", &StraysConfig::exemptUsers, "leave out processes of these users (names or ids)");
    addExemption(strays, line, "--exempt-groups", &StraysConfig::exemptGroups,
                 "leave out processes of members of these groups (names or ids)");
    addExemption(strays, line, "--exempt-units", &StraysConfig::exemptUnits,
                 "leave out processes in these units or slices (shell patterns)");
    addSetting(strays, line, "--min-age", &StraysConfig::minAge, parseLeast,
               "show only processes that are older than this (default 60s)");
    addSetting(strays, line, "--min-cpu", &StraysConfig::minCpu, parseLeast,
               "show only processes that have used at least this CPU time");
    strays
        ->add_option_function<std::vector<std::string>>(
            "--commands",
            [&line](const std::vector<std::string>& globs) {
                line.strays.settings.emplace_back([globs](StraysConfig& config) { config.commands = globs; });
            },
            "show only processes whose command line matches this pattern; may be repeated")
        ->type_name("");
    strays->add_flag_callback(
        "--without-job", [&line] { line.strays.settings.emplace_back([](StraysConfig& config) { config.withoutJob = true; }); },
        "show only processes of users who have no live job");
}

} // namespace

void addStrays(CLI::App& app, CommandLine& line) {
    auto* strays = app.add_subcommand("strays", "list processes of users that belong to no job");
    strays
        ->add_option_function<std::string>(
            "--mode",
            [&line](const std::string& text) {
                const auto mode = parseStraysMode(text);
                if (!mode)
                    throw CLI::ValidationError(mode.error().message);
                line.strays.mode = *mode;
            },
            "report (default), warn, stop, kill, or configured (as pinfold.toml says)")
        ->type_name("");
    addStrayFilters(strays, line);
    addSetting(strays, line, "--kinds", &StraysConfig::kinds, parseKinds, "act only on strays of these kinds");
    addSetting(strays, line, "--max-kills", &StraysConfig::maxKills, parseKills,
               "act on at most this many strays (default 1000)");
    addSetting(strays, line, "--grace", &StraysConfig::grace, parseStrayGrace,
               "with --mode=stop: the time between SIGTERM and SIGKILL (default 10s)");
    strays->add_flag("--dry-run", line.dryRun, "show what would be done, but do not do it");
    strays->add_flag("--files", line.strays.files, "list files and System V IPC that ended jobs left, not processes");
    strays->add_flag("--remove", line.strays.remove, "with --files: remove what may be removed")->needs("--files");
    strays->add_flag("-P,--parsable", line.parsable, "separate the fields by |");
}

} // namespace pinfold
