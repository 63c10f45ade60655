// SPDX-License-Identifier: LGPL-2.1-or-later
// The one user of toml++. Its exceptions end here.
#include "base/escape.hpp"
#include "base/parse.hpp"
#include "config/config.hpp"
#include "config/config_files.hpp"
#include "model/limit_table.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

namespace pinfold {
namespace {

constexpr std::uint64_t kHour = 3'600'000'000; // microseconds

using Setter = std::function<Result<void>(const toml::node&, Config&)>;
using Section = std::map<std::string_view, Setter>;

Error wrong(const std::string& what) { return {ErrorCode::ConfigInvalid, what}; }

std::string show(const toml::node& node) {
    std::ostringstream text;
    if (const auto* value = node.as_string())
        text << '"' << value->get() << '"';
    else if (const auto* integer = node.as_integer())
        text << integer->get();
    else if (const auto* boolean = node.as_boolean())
        text << (boolean->get() ? "true" : "false");
    else
        text << "a " << node.type();
    return printable(text.str(), 200);
}

/// What people may write as a number or as text: integers stand for `integerUnit` each.
Result<std::uint64_t> amount(const toml::node& node, Result<std::uint64_t> (*parse)(std::string_view),
                             std::uint64_t integerUnit) {
    if (const auto* text = node.as_string())
        return parse(text->get());
    if (const auto* number = node.as_integer();
        number && number->get() >= 0 && static_cast<std::uint64_t>(number->get()) <= UINT64_MAX / 2 / integerUnit)
        return static_cast<std::uint64_t>(number->get()) * integerUnit;
    return wrong(show(node) + " is no amount: use a number or a string with a unit");
}

Result<std::uint64_t> integer(const toml::node& node, std::uint64_t least, std::uint64_t most) {
    if (const auto* number = node.as_integer(); number && number->get() >= 0)
        if (const auto value = static_cast<std::uint64_t>(number->get()); value >= least && value <= most)
            return value;
    return wrong(show(node) + " is out of range: use a number from " + std::to_string(least) + " to " + std::to_string(most));
}

template <class T> Setter word(T& (*member)(Config&), std::vector<std::pair<std::string_view, T>> words) {
    return [member, words](const toml::node& node, Config& config) -> Result<void> {
        std::string allowed;
        for (const auto& [name, value] : words) {
            if (node.value<std::string_view>() == name) {
                member(config) = value;
                return {};
            }
            allowed += (allowed.empty() ? "\"" : ", \"") + std::string(name) + "\"";
        }
        return wrong(show(node) + " is not one of " + allowed);
    };
}

Setter duration(std::uint64_t& (*member)(Config&), std::uint64_t least, std::uint64_t most, const char* range) {
    return [=](const toml::node& node, Config& config) -> Result<void> {
        const auto usec = amount(node, parseDuration, 1'000'000);
        if (!usec)
            return usec.error();
        if (*usec < least || *usec > most)
            return wrong(show(node) + " is out of range: use " + range);
        member(config) = *usec;
        return {};
    };
}

template <class T> Setter count(T& (*member)(Config&), std::uint64_t least, std::uint64_t most) {
    return [=](const toml::node& node, Config& config) -> Result<void> {
        const auto value = integer(node, least, most);
        if (!value)
            return value.error();
        member(config) = static_cast<T>(*value);
        return {};
    };
}

Setter flag(bool& (*member)(Config&)) {
    return [=](const toml::node& node, Config& config) -> Result<void> {
        const auto* value = node.as_boolean();
        if (!value)
            return wrong(show(node) + " is neither true nor false");
        member(config) = value->get();
        return {};
    };
}

Setter absolutePath(std::string& (*member)(Config&)) {
    return [member](const toml::node& node, Config& config) -> Result<void> {
        const auto path = node.value<std::string>().value_or("");
        if (!path.starts_with('/') || path != printable(path))
            return wrong(show(node) + " is no absolute path: write \"/path/to/file\"");
        member(config) = path;
        return {};
    };
}

/// As on the command line; an integer stands for its digits.
Setter limit(std::string_view name) {
    return [name](const toml::node& node, Config& config) -> Result<void> {
        if (const auto* text = node.as_string())
            return setLimit(config.defaults, name, text->get());
        if (const auto* number = node.as_integer(); number && number->get() >= 0)
            return setLimit(config.defaults, name, std::to_string(number->get()));
        return wrong(show(node) + " is no amount: use a number or a string with a unit");
    };
}

Section limits() {
    Section section;
    for (const auto& row : limitTable())
        section.emplace(row.name, limit(row.name));
    return section;
}

const std::map<std::string_view, Section>& sections() {
    static const std::map<std::string_view, Section> table{
        {"daemon",
         {{"log_level", word<LogLevel>([](Config& c) -> LogLevel& { return c.daemon.logLevel; },
                                       {{"debug", LogLevel::Debug},
                                        {"info", LogLevel::Info},
                                        {"warning", LogLevel::Warning},
                                        {"error", LogLevel::Error}})}}},
        {"jobs",
         {{"kill_grace", duration([](Config& c) -> std::uint64_t& { return c.jobs.killGrace; }, 0, kHour, "0 to 1 h")},
          {"on_failure", word<OnFailure>([](Config& c) -> OnFailure& { return c.jobs.onFailure; },
                                         {{"refuse", OnFailure::Refuse}, {"run-unconfined", OnFailure::RunUnconfined}})},
          {"allow_user_jobs", flag([](Config& c) -> bool& { return c.jobs.allowUserJobs; })},
          {"unenforced_limits", word<UnenforcedLimits>([](Config& c) -> UnenforcedLimits& { return c.jobs.unenforcedLimits; },
                                                       {{"refuse", UnenforcedLimits::Refuse}, {"warn", UnenforcedLimits::Warn}})},
          {"max_per_user", count<std::uint64_t>([](Config& c) -> std::uint64_t& { return c.jobs.maxPerUser; }, 1, 1'000'000)}}},
        {"defaults", limits()},
        {"devices", {}}, // any name is a key there
        {"leftovers",
         {{"report_max", count<std::uint32_t>([](Config& c) -> std::uint32_t& { return c.leftovers.reportMax; }, 0, 10'000)},
          {"command_lines",
           word<CommandLines>([](Config& c) -> CommandLines& { return c.leftovers.commandLines; },
                              {{"none", CommandLines::None}, {"name", CommandLines::Name}, {"full", CommandLines::Full}})}}},
        {"unkillable",
         {{"after", duration([](Config& c) -> std::uint64_t& { return c.unkillable.after; }, 1'000'000, kHour, "1 s to 1 h")},
          {"action", word<UnkillableAction>([](Config& c) -> UnkillableAction& { return c.unkillable.action; },
                                            {{"none", UnkillableAction::None},
                                             {"comment", UnkillableAction::Comment},
                                             {"drain", UnkillableAction::Drain},
                                             {"script", UnkillableAction::Script}})},
          {"script", absolutePath([](Config& c) -> std::string& { return c.unkillable.script; })}}},
    };
    return table;
}

/// "/dev/fuse rw", "char-pts rwm": one line of DeviceAllow=.
Result<DeviceRule> deviceRule(const toml::node& node) {
    const auto text = node.value<std::string>().value_or("");
    const auto blank = text.find(' ');
    const auto device = text.substr(0, blank);
    const auto access = blank == std::string::npos ? std::string("rw") : text.substr(blank + 1);
    const bool isPath = device.starts_with("/dev/") && device.find("..") == std::string::npos;
    const bool isGroup = device.starts_with("char-") || device.starts_with("block-");
    const bool printable = std::all_of(device.begin(), device.end(), [](char c) { return c > ' ' && c < 0x7f; });
    if ((!isPath && !isGroup) || !printable || access.empty() || access.find_first_not_of("rwm") != std::string::npos)
        return wrong(show(node) +
                     " is no device: use \"/dev/NAME rw\", \"char-GROUP rw\" or \"block-GROUP r\", with letters of rwm");
    return DeviceRule{device, access};
}

/// [devices.NAME] allow = [...]
Result<void> setDevices(std::string_view name, const toml::node& node, Config& config) {
    std::optional<std::string> checked;
    if (auto set = setLimitText(name, checked); !set)
        return set;
    const auto* profile = node.as_table();
    const auto* allow =
        profile && profile->size() == 1 && profile->contains("allow") ? profile->get("allow")->as_array() : nullptr;
    if (!allow)
        return wrong(show(node) + " is no device profile: use [devices." + std::string(name) +
                     "] with allow = [\"/dev/NAME rw\"]");
    DeviceRules rules;
    for (const auto& entry : *allow) {
        auto rule = deviceRule(entry);
        if (!rule)
            return rule.error();
        rules.push_back(std::move(*rule));
    }
    config.devices[*checked] = std::move(rules);
    return {};
}

std::string place(const std::filesystem::path& file, const toml::source_region& region) {
    return file.string() + ":" + std::to_string(region.begin.line) + ":" + std::to_string(region.begin.column) + ": ";
}

Result<void> apply(const std::filesystem::path& file, const toml::table& document, LoadedConfig& loaded) {
    for (const auto& [sectionName, sectionNode] : document) {
        const auto section = sections().find(sectionName.str());
        if (section == sections().end()) {
            loaded.warnings.push_back(place(file, sectionName.source()) + "unknown section or key '" +
                                      printable(sectionName.str(), 100) + "', see pinfold.toml(5)");
            continue;
        }
        const auto* keys = sectionNode.as_table();
        if (!keys)
            return wrong(place(file, sectionNode.source()) + std::string(sectionName.str()) + " is a section: write [" +
                         std::string(sectionName.str()) + "]");
        for (const auto& [key, value] : *keys) {
            if (sectionName.str() == "devices") {
                if (auto set = setDevices(key.str(), value, loaded.config); !set)
                    return wrong(place(file, value.source()) + "devices." + printable(key.str(), 100) + ": " +
                                 set.error().message);
                continue;
            }
            const auto setter = section->second.find(key.str());
            if (setter == section->second.end()) {
                loaded.warnings.push_back(place(file, key.source()) + "unknown key '" + printable(key.str(), 100) + "' in [" +
                                          std::string(sectionName.str()) + "], see pinfold.toml(5)");
                continue;
            }
            if (auto set = setter->second(value, loaded.config); !set)
                return wrong(place(file, value.source()) + std::string(key.str()) + ": " + set.error().message);
        }
    }
    return {};
}

} // namespace

Result<LoadedConfig> loadConfig(const ConfigPaths& paths) {
    LoadedConfig loaded;
    for (const auto& file : configFiles(paths)) {
        std::error_code error;
        if (!std::filesystem::is_regular_file(file, error))
            return wrong(file.string() + ":1:1: it is not a regular file");
        try {
            if (auto applied = apply(file, toml::parse_file(file.string()), loaded); !applied)
                return applied.error();
        } catch (const toml::parse_error& parseError) {
            return wrong(place(file, parseError.source()) + printable(parseError.description(), 300));
        }
        loaded.files.push_back(file);
    }
    if (loaded.config.unkillable.action == UnkillableAction::Script && loaded.config.unkillable.script.empty())
        return wrong(loaded.files.back().string() + ":1:1: unkillable.action = \"script\" needs unkillable.script = \"/path\"");
    return loaded;
}

} // namespace pinfold
