// SPDX-License-Identifier: LGPL-2.1-or-later
// The one user of toml++. Its exceptions end here.
#include "base/escape.hpp"
#include "base/parse.hpp"
#include "config/config.hpp"
#include "config/config_files.hpp"

#include <toml++/toml.h>

#include <array>
#include <functional>
#include <map>
#include <utility>

namespace pinfold {
namespace {

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

Setter duration(std::uint64_t& (*member)(Config&), std::uint64_t most, const char* range) {
    return [=](const toml::node& node, Config& config) -> Result<void> {
        const auto usec = amount(node, parseDuration, 1'000'000);
        if (!usec)
            return usec.error();
        if (*usec > most)
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

using Limit = std::optional<std::uint64_t> ResourceLimits::*;

Setter limit(Limit member, Result<std::uint64_t> (*parse)(std::string_view), std::uint64_t integerUnit) {
    return [=](const toml::node& node, Config& config) -> Result<void> {
        const auto value = amount(node, parse, integerUnit);
        if (!value)
            return value.error();
        config.defaults.*member = *value;
        return validate(config.defaults);
    };
}

Result<void> setAllowedCpus(const toml::node& node, Config& config) {
    auto list = CpuList::parse(node.value<std::string_view>().value_or(""));
    if (!list)
        return list.error();
    config.defaults.allowedCpus = std::move(*list);
    return {};
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
         {{"kill_grace", duration([](Config& c) -> std::uint64_t& { return c.jobs.killGrace; }, 3'600'000'000, "0 to 1 h")},
          {"on_failure", word<OnFailure>([](Config& c) -> OnFailure& { return c.jobs.onFailure; },
                                         {{"refuse", OnFailure::Refuse}, {"run-unconfined", OnFailure::RunUnconfined}})},
          {"allow_user_jobs", flag([](Config& c) -> bool& { return c.jobs.allowUserJobs; })},
          {"unenforced_limits", word<UnenforcedLimits>([](Config& c) -> UnenforcedLimits& { return c.jobs.unenforcedLimits; },
                                                       {{"refuse", UnenforcedLimits::Refuse}, {"warn", UnenforcedLimits::Warn}})},
          {"max_per_user", count<std::uint64_t>([](Config& c) -> std::uint64_t& { return c.jobs.maxPerUser; }, 1, 1'000'000)}}},
        {"defaults",
         {{"memory_max", limit(&ResourceLimits::memoryMax, parseSize, 1)},
          {"cpu_quota", limit(&ResourceLimits::cpuQuota, parseCpuQuota, 1)},
          {"cpu_weight", limit(&ResourceLimits::cpuWeight, parseUnsigned, 1)},
          {"allowed_cpus", setAllowedCpus},
          {"tasks_max", limit(&ResourceLimits::tasksMax, parseUnsigned, 1)},
          {"run_time_max", limit(&ResourceLimits::runTimeMax, parseDuration, 1'000'000)}}},
        {"leftovers",
         {{"report_max", count<std::uint32_t>([](Config& c) -> std::uint32_t& { return c.leftovers.reportMax; }, 0, 10'000)},
          {"command_lines",
           word<CommandLines>([](Config& c) -> CommandLines& { return c.leftovers.commandLines; },
                              {{"none", CommandLines::None}, {"name", CommandLines::Name}, {"full", CommandLines::Full}})}}},
    };
    return table;
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
    return loaded;
}

} // namespace pinfold
