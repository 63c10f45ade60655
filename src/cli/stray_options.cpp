// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/stray_options.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"
#include "base/word_list.hpp"
#include "cli/common_options.hpp"
#include "cli/textfile.hpp"
#include "config/config.hpp"
#include "options/words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

namespace pinfold {
namespace {

constexpr std::array<std::string_view, 4> kModes{"report", "warn", "stop", "kill"};
static_assert(kModes.size() == static_cast<std::size_t>(StraysMode::Kill) + 1, "one name for each mode");

Error invalid(const std::string& text, const std::string& what) {
    return {ErrorCode::InvalidArgument, fmt::format("'{}' is not valid: use {}", printable(text, 100), what)};
}

Result<Microseconds> parseLeast(const std::string& text) {
    const auto value = parseDuration(text);
    return value && *value < kForever ? value : invalid(text, "a duration such as 90s");
}

Result<Microseconds> parseGrace(const std::string& text) {
    const auto value = parseDuration(text);
    return value && *value <= StraysConfig::kMostGrace ? value : invalid(text, "0 to 1h");
}

/// Splits a text such as "a,b" into the names "a" and "b".
Result<std::vector<std::string>> parseNames(const std::string& text) {
    std::vector<std::string> names;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');)
        if (!word.empty())
            names.push_back(word);
    if (names.empty())
        return invalid(text, "names separated by commas");
    return names;
}

Result<StrayKinds> parseKinds(const std::string& text) {
    const auto names = parseNames(text);
    if (!names)
        return names.error();
    StrayKinds kinds;
    for (const auto& name : *names) {
        const auto kind = actionableStrayKind(name);
        if (!kind)
            return Error{ErrorCode::InvalidArgument,
                         fmt::format("'{}' is not a kind that pinfold can act on{}", printable(name, 100),
                                     correction(name, actionableStrayKindNames()))};
        kinds.insert(*kind);
    }
    return kinds;
}

std::vector<std::string> modeWords() {
    std::vector<std::string> words{kModes.begin(), kModes.end()};
    words.emplace_back("configured");
    return words;
}

OptionSetter intoMode(std::optional<StraysMode>& mode) {
    return [&mode](const std::string& word) -> Result<void> {
        const auto* const known = std::ranges::find(kModes, word);
        mode = known == kModes.end() ? std::nullopt : std::optional(static_cast<StraysMode>(known - kModes.begin()));
        return {};
    };
}

/// Returns a setter for a member of StraysConfig.
template <class T, class Parse> OptionSetter setting(StraysOptions& options, T StraysConfig::*member, Parse parse) {
    return [&options, member, parse](const std::string& text) -> Result<void> {
        auto value = parse(text);
        if (!value)
            return value.error();
        options.settings.emplace_back(
            [member, value = static_cast<T>(*std::move(value))](StraysConfig& config) { config.*member = value; });
        return {};
    };
}

/// Returns a setter that adds a name to the site's list of exemptions. The setter does not remove the names that the site has put
/// into its list of exemptions.
OptionSetter exemption(StraysOptions& options, std::vector<std::string> StraysConfig::*member) {
    return [&options, member](const std::string& name) -> Result<void> {
        options.settings.emplace_back([member, name](StraysConfig& config) { (config.*member).push_back(name); });
        return {};
    };
}

OptionSetter withoutJob(StraysOptions& options) {
    return [&options](const std::string&) -> Result<void> {
        options.settings.emplace_back([](StraysConfig& config) { config.withoutJob = true; });
        return {};
    };
}

OptionSet filters(StraysOptions& options) {
    const auto userIds = numberFrom(1, StraysConfig::kMostUid);
    return {{.name = "--min-uid",
             .value = "UID",
             .help = "show only processes of users with at least this user id (default 1000)",
             .set = setting(options, &StraysConfig::minUid, userIds)},
            {.name = "--max-uid",
             .value = "UID",
             .help = "show only processes of users with at most this user id",
             .set = setting(options, &StraysConfig::maxUid, userIds)},
            {.name = "--users",
             .value = "USER,...",
             .help = "show only processes of these users (names or ids)",
             .set = setting(options, &StraysConfig::users, parseNames),
             .separator = ',',
             .offer = Offer::Users},
            {.name = "--exempt-users",
             .value = "USER,...",
             .help = "leave out processes of these users (names or ids)",
             .set = exemption(options, &StraysConfig::exemptUsers),
             .values = Values::Several,
             .separator = ',',
             .offer = Offer::Users},
            {.name = "--exempt-groups",
             .value = "GROUP,...",
             .help = "leave out processes of members of these groups (names or ids)",
             .set = exemption(options, &StraysConfig::exemptGroups),
             .values = Values::Several,
             .separator = ',',
             .offer = Offer::Groups},
            {.name = "--exempt-units",
             .value = "PATTERN,...",
             .help = "leave out processes in these units or slices (shell patterns)",
             .set = exemption(options, &StraysConfig::exemptUnits),
             .values = Values::Several,
             .separator = ','},
            {.name = "--min-age",
             .value = "TIME",
             .help = "show only processes that are older than this (default 60s)",
             .set = setting(options, &StraysConfig::minAge, parseLeast)},
            {.name = "--min-cpu",
             .value = "TIME",
             .help = "show only processes that have used at least this CPU time",
             .set = setting(options, &StraysConfig::minCpu, parseLeast)},
            {.name = "--commands",
             .value = "PATTERN",
             .help = "show only processes with a command line that matches this pattern; may be repeated",
             .set = into(options.commands),
             .values = Values::Several},
            {.name = "--without-job", .help = "show only processes of users who have no live job", .set = withoutJob(options)}};
}

} // namespace

StraysConfig StraysOptions::applied(StraysConfig config) const {
    if (mode)
        config.mode = *mode;
    for (const auto& set : settings)
        set(config);
    if (!commands.empty())
        config.commands = commands;
    return config;
}

OptionSet straysOptions(StraysOptions& options) {
    static const auto kindsHelp = "act only on strays of these kinds: " + enumerated(actionableStrayKindNames());
    OptionSet set{{.name = "--mode",
                   .value = "MODE",
                   .help = "what to do with strays (default: report). \"configured\" means the mode in pinfold.toml",
                   .set = intoMode(options.mode),
                   .words = modeWords()}};
    append(set, filters(options));
    append(set, {{.name = "--kinds",
                  .value = "KIND,...",
                  .help = kindsHelp.c_str(),
                  .set = setting(options, &StraysConfig::kinds, parseKinds),
                  .separator = ',',
                  .samples = actionableStrayKindNames()},
                 {.name = "--max-kills",
                  .value = "N",
                  .help = "act on at most this many strays (default 1000)",
                  .set = setting(options, &StraysConfig::maxKills, numberFrom(1, StraysConfig::kMostKills))},
                 {.name = "--grace",
                  .value = "TIME",
                  .help = "with --mode=stop: the time between SIGTERM and SIGKILL (default 10s)",
                  .set = setting(options, &StraysConfig::grace, parseGrace)},
                 dryRunOption(options.dryRun),
                 {.name = "--metrics",
                  .help = "also write figures for node_exporter to pinfold-strays.prom, beside the file metrics.textfile",
                  .set = into(options.metrics),
                  .excludes = "--files"},
                 {.name = "--files",
                  .help = "list files and System V IPC objects that ended jobs left behind, not processes",
                  .set = into(options.files)},
                 {.name = "--remove",
                  .help = "with --files: remove the files and objects that are safe to remove",
                  .set = into(options.remove),
                  .needs = "--files"}});
    return set;
}

Result<StrayPolicy> policyFor(const StraysOptions& options) {
    const auto loaded = loadConfig(ConfigPaths{});
    if (!loaded)
        return loaded.error();
    auto config = options.applied(loaded->config.strays);
    if (config.minUid > config.maxUid)
        return Error{ErrorCode::InvalidArgument,
                     "--min-uid is above --max-uid, so no user would be checked: lower --min-uid or raise --max-uid"};
    auto policy = resolve(std::move(config));
    // A warning about the configuration counts as a problem. A warning can mean that the administrator misspelt a key that
    // protects processes or files.
    policy.problems.insert(policy.problems.end(), loaded->warnings.begin(), loaded->warnings.end());
    return policy;
}

std::string_view toString(StraysMode mode) { return kModes[static_cast<std::size_t>(mode)]; }

} // namespace pinfold
