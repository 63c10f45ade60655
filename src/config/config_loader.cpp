// SPDX-License-Identifier: LGPL-2.1-or-later
// The code in config_loader.cpp catches all exceptions of the library toml++.
#include "base/escape.hpp"
#include "base/parse.hpp"
#include "config/archive_section.hpp"
#include "config/config.hpp"
#include "config/config_files.hpp"
#include "config/setters.hpp"
#include "config/strays_section.hpp"
#include "model/job_identity.hpp"
#include "model/limit_table.hpp"
#include "model/set_limit.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

namespace pinfold {
namespace {

/// Returns a setter for a limit. In the configuration, a limit can be a string of the form that the command line accepts, for
/// example after --memory-max. The integer 4 means the same as the string "4".
Setter limit(std::string_view name) {
    return [name](const toml::node& node, Config& config) -> Result<void> {
        if (const auto* text = node.as_string())
            return setLimit(config.defaults, name, text->get());
        if (const auto* number = node.as_integer(); number && number->get() >= 0)
            return setLimit(config.defaults, name, std::to_string(number->get()));
        return wrong(show(node) + " is not an amount: use a number or a string with a unit");
    };
}

/// Reads one device rule in the form of DeviceAllow=, such as "/dev/fuse rw" or "char-pts rwm".
Result<DeviceRule> deviceRule(const toml::node& node) {
    const auto text = node.value<std::string>().value_or("");
    const auto blank = text.find(' ');
    const auto device = text.substr(0, blank);
    const auto access = blank == std::string::npos ? std::string("rw") : text.substr(blank + 1);
    const bool isPath = device.starts_with("/dev/") && device.find("..") == std::string::npos;
    const bool isGroup = device.starts_with("char-") || device.starts_with("block-");
    const bool printable = std::all_of(device.begin(), device.end(), [](char c) { return c > ' ' && c < 0x7f; });
    if ((!isPath && !isGroup) || !printable || access.empty() || access.find_first_not_of("rwm") != std::string::npos)
        return wrong(show(node) + " is not a device rule: use \"/dev/NAME rw\", \"char-GROUP rw\" or \"block-GROUP r\"; the "
                                  "access is one or more of the letters r, w and m");
    return DeviceRule{device, access};
}

Result<void> deviceRules(const toml::node& node, DeviceRules& rules) {
    const auto* entries = node.as_array();
    if (!entries)
        return wrong(show(node) + " is not a list: use [\"/dev/NAME rw\"]");
    DeviceRules read;
    for (const auto& entry : *entries) {
        auto rule = deviceRule(entry);
        if (!rule)
            return rule.error();
        read.push_back(std::move(*rule));
    }
    rules = std::move(read);
    return {};
}

/// Reads the list of GPUs in the section [gpus], such as devices = ["/dev/nvidia0", ["/dev/dri/card0", "/dev/dri/renderD128"]].
Result<void> gpuDevices(const toml::node& node, Config& config) {
    const auto* gpus = node.as_array();
    if (!gpus)
        return wrong(show(node) + " is not a list: use a list with one entry for each GPU");
    std::vector<DeviceRules> devices;
    for (const auto& gpu : *gpus) {
        auto read = gpu.is_array() ? deviceRules(gpu, devices.emplace_back())
                                   : deviceRules(toml::array{gpu.value<std::string>().value_or("")}, devices.emplace_back());
        if (!read)
            return read;
    }
    config.gpus.devices = std::move(devices);
    return {};
}

bool isGpuId(const std::string& word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c > ' ' && c < 0x7f && c != ','; });
}

bool isVariable(const std::string& word) {
    constexpr auto kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    return !word.empty() && !(word[0] >= '0' && word[0] <= '9') && word.find_first_not_of(kLetters) == word.npos;
}

constexpr std::uint64_t kMostPercent = 90;

Setter reserve(std::optional<Config::Reserve>& (*member)(Config&), Result<std::uint64_t> (*parse)(std::string_view)) {
    return [=](const toml::node& node, Config& config) -> Result<void> {
        const auto text = node.value<std::string>().value_or("");
        const bool percent = text.ends_with('%');
        const auto value = percent ? parseUnsigned(std::string_view(text).substr(0, text.size() - 1)) : amount(node, parse);
        if (!value || *value == kInfinity || (percent && *value > kMostPercent))
            return wrong(show(node) + " cannot be reserved: use an amount, or a share of at most \"90%\"");
        member(config) = Config::Reserve{*value, percent};
        return {};
    };
}

/// Sets a share in the section [idle], such as "50%". The error message contains the text `held`, which names the resource.
Setter idleShare(std::uint32_t Config::Idle::*member, const char* held) {
    return [member, held](const toml::node& node, Config& config) -> Result<void> {
        const auto text = node.value<std::string>().value_or("");
        const auto percent = text.ends_with('%') ? parseUnsigned(std::string_view(text).substr(0, text.size() - 1))
                                                 : Result<std::uint64_t>(wrong("no percentage"));
        if (!percent || *percent < 1 || *percent > 100)
            return wrong(show(node) + " is not a share of the " + held + ": use \"1%\" to \"100%\"");
        config.idle.*member = static_cast<std::uint32_t>(*percent);
        return {};
    };
}

Section limits() {
    Section section;
    for (const auto& row : limitTable())
        section.emplace(row.name, limit(row.name));
    return section;
}

/// Sets metrics.textfile. The name of the file must end in .prom, because node_exporter reads only files *.prom.
Result<void> textfile(const toml::node& node, Config& config) {
    const auto* text = node.as_string();
    const std::filesystem::path path = text ? text->get() : "";
    const bool nul = path.native().find(static_cast<char>(0)) != std::string::npos;
    if (!text || nul ||
        (!path.empty() && (!path.is_absolute() || path.extension() != ".prom" || path != path.lexically_normal())))
        return wrong(show(node) + " is not the absolute path of a file *.prom: use for instance "
                                  "\"/var/lib/node_exporter/textfile_collector/pinfold.prom\"");
    config.metrics.textfile = path.empty() ? std::nullopt : std::optional(path);
    return {};
}

/// Sets jobs.summary. In an earlier version of pinfold, jobs.summary was a boolean, so true and false are still valid.
Result<void> summary(const toml::node& node, Config& config) {
    if (const auto* always = node.as_boolean())
        config.jobs.summary = always->get() ? Summary::Always : Summary::Never;
    else if (node.value<std::string_view>() == "on-failure")
        config.jobs.summary = Summary::OnFailure;
    else
        return wrong(show(node) + " is not valid: use false, true or \"on-failure\"");
    return {};
}

constexpr const char* kProfileIntervals = "0 for never, or 5 s to 1 h";
/// Sets daemon.cluster. Programs use the name of a cluster as a key, so the name must be valid as a key without quotation
/// marks.
Result<void> cluster(const toml::node& node, Config& config) {
    const auto* name = node.as_string();
    if (!name || (!name->get().empty() && !isLabelName(name->get())))
        return wrong(show(node) + " is not a name of a cluster: use 1 to 64 letters, digits, '_', '-' and '.'");
    config.daemon.cluster = name->get();
    return {};
}

const std::map<std::string_view, Section>& sections() {
    static const std::map<std::string_view, Section> table{
        {"daemon",
         {{"cluster", cluster},
          {"log_level", word<LogLevel>([](Config& c) -> LogLevel& { return c.daemon.logLevel; },
                                       {{"debug", LogLevel::Debug},
                                        {"info", LogLevel::Info},
                                        {"warning", LogLevel::Warning},
                                        {"error", LogLevel::Error}})}}},
        {"jobs",
         {{"kill_grace", duration([](Config& c) -> Microseconds& { return c.jobs.killGrace; }, 0s, 1h, "0 to 1 h")},
          {"on_failure", word<OnFailure>([](Config& c) -> OnFailure& { return c.jobs.onFailure; },
                                         {{"refuse", OnFailure::Refuse}, {"run-unconfined", OnFailure::RunUnconfined}})},
          {"allow_user_jobs", flag([](Config& c) -> bool& { return c.jobs.allowUserJobs; })},
          {"unenforced_limits", word<UnenforcedLimits>([](Config& c) -> UnenforcedLimits& { return c.jobs.unenforcedLimits; },
                                                       {{"refuse", UnenforcedLimits::Refuse}, {"warn", UnenforcedLimits::Warn}})},
          {"max_per_user", count<std::uint64_t>([](Config& c) -> std::uint64_t& { return c.jobs.maxPerUser; }, 1, 1'000'000)},
          {"max_tasks", count<std::uint64_t>([](Config& c) -> std::uint64_t& { return c.jobs.maxTasks; }, 1, 100'000)},
          {"max_tasks_per_user",
           count<std::uint64_t>([](Config& c) -> std::uint64_t& { return c.jobs.maxTasksPerUser; }, 1, 1'000'000)},
          {"linger",
           duration([](Config& c) -> Microseconds& { return c.jobs.linger; }, 0s, kForever, "a duration, or \"infinity\"")},
          {"slots",
           word<Slots>([](Config& c) -> Slots& { return c.jobs.slots; },
                       {{"none", Slots::None}, {"weight", Slots::Weight}, {"quota", Slots::Quota}, {"cpus", Slots::Cpus}})},
          {"shepherd_grace", duration([](Config& c) -> Microseconds& { return c.jobs.shepherdGrace; }, 0s, 1h, "0 to 1 h")},
          {"summary", summary},
          {"omp_num_threads", flag([](Config& c) -> bool& { return c.jobs.ompNumThreads; })}}},
        {"defaults", limits()},
        {"devices", {}}, // in the section [devices], every key is the name of a profile, so every key is valid
        {"gpus",
         {{"devices", gpuDevices},
          {"common", [](const toml::node& node, Config& config) { return deviceRules(node, config.gpus.common); }},
          {"ids",
           words([](Config& c) -> std::vector<std::string>& { return c.gpus.ids; }, isGpuId, "GPU ids such as \"GPU-8f3e\"")},
          {"environment", words([](Config& c) -> std::vector<std::string>& { return c.gpus.environment; }, isVariable,
                                "names of environment variables")}}},
        {"allocation",
         {{"hyper_threads",
           word<HyperThreads>([](Config& c) -> HyperThreads& { return c.allocation.hyperThreads; },
                              {{"count", HyperThreads::Count}, {"share", HyperThreads::Share}, {"idle", HyperThreads::Idle}})}}},
        {"node",
         {{"reserve_memory", reserve([](Config& c) -> std::optional<Config::Reserve>& { return c.node.memory; }, parseSize)},
          {"reserve_cpus", reserve([](Config& c) -> std::optional<Config::Reserve>& { return c.node.cpus; }, parseUnsigned)}}},
        {"leftovers",
         {{"report_max", count<std::uint32_t>([](Config& c) -> std::uint32_t& { return c.leftovers.reportMax; }, 0, 10'000)},
          {"command_lines",
           word<CommandLines>([](Config& c) -> CommandLines& { return c.leftovers.commandLines; },
                              {{"none", CommandLines::None}, {"name", CommandLines::Name}, {"full", CommandLines::Full}})}}},
        {"history",
         {{"max_age",
           duration([](Config& c) -> Microseconds& { return c.history.maxAge; }, 1h, kForever, "1 h or more, or \"infinity\"")},
          {"max_size",
           size([](Config& c) -> std::uint64_t& { return c.history.maxSize; }, 1 << 20, "1M or more, or \"infinity\"")},
          {"patience", duration([](Config& c) -> Microseconds& { return c.history.patience; }, 1s, 1h, "1 s to 1 h")},
          {"on_failure", word<HistoryFailure>([](Config& c) -> HistoryFailure& { return c.history.onFailure; },
                                              {{"drain", HistoryFailure::Drain}, {"continue", HistoryFailure::Continue}})}}},
        {"archive", archiveSection()},
        {"metrics", {{"textfile", textfile}, {"per_job", flag([](Config& c) -> bool& { return c.metrics.perJob; })}}},
        {"profile",
         {{"interval", [](const toml::node& node, Config& config) -> Result<void> {
               const auto set = duration([](Config& c) -> Microseconds& { return c.profile.interval; }, 0s, 1h, kProfileIntervals);
               if (auto done = set(node, config); !done)
                   return done;
               if (config.profile.interval > 0s && config.profile.interval < 5s)
                   return wrong(show(node) + " is out of range: use " + kProfileIntervals);
               return {};
           }}}},
        {"idle",
         {{"since", duration([](Config& c) -> Microseconds& { return c.idle.since; }, 1min, 30 * 24h, "1 min to 30 days")},
          {"share", idleShare(&Config::Idle::share, "CPUs")},
          {"memory_share", idleShare(&Config::Idle::memoryShare, "memory limit")}}},
        {"strays", straysSection()},
        {"unkillable",
         {{"after", duration([](Config& c) -> Microseconds& { return c.unkillable.after; }, 1s, 1h, "1 s to 1 h")},
          {"action", word<UnkillableAction>([](Config& c) -> UnkillableAction& { return c.unkillable.action; },
                                            {{"none", UnkillableAction::None},
                                             {"comment", UnkillableAction::Comment},
                                             {"drain", UnkillableAction::Drain},
                                             {"script", UnkillableAction::Script}})},
          {"script", absolutePath([](Config& c) -> std::string& { return c.unkillable.script; })}}},
    };
    return table;
}

/// Reads the key `allow` of a section [devices.NAME].
Result<void> setDevices(std::string_view name, const toml::node& node, Config& config) {
    std::optional<std::string> checked;
    if (auto set = setLimitText(name, checked); !set)
        return set;
    const auto* profile = node.as_table();
    const auto* allow =
        profile && profile->size() == 1 && profile->contains("allow") ? profile->get("allow")->as_array() : nullptr;
    if (!allow)
        return wrong(show(node) + " is not a device profile: use [devices." + std::string(name) +
                     "] with allow = [\"/dev/NAME rw\"]");
    return deviceRules(*allow, config.devices[*checked]);
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
    if (const auto& gpus = loaded.config.gpus; !gpus.ids.empty() && gpus.ids.size() != gpus.devices.size())
        return wrong(loaded.files.back().string() + ":1:1: [gpus] has " + std::to_string(gpus.ids.size()) + " ids for " +
                     std::to_string(gpus.devices.size()) + " devices: write one id for each device, or no ids");
    if (const auto& strays = loaded.config.strays; strays.minUid > strays.maxUid)
        return wrong(loaded.files.back().string() +
                     ":1:1: strays.min_uid is above strays.max_uid, so no user would be checked: lower min_uid or raise max_uid");
    if (loaded.config.archive.ask && !loaded.config.archive.enabled())
        return wrong(loaded.files.back().string() +
                     ":1:1: archive.ask = true needs archive.server = \"HOST\", the host of the site's archive");
    if (loaded.config.unkillable.action == UnkillableAction::Script && loaded.config.unkillable.script.empty())
        return wrong(loaded.files.back().string() + ":1:1: unkillable.action = \"script\" needs unkillable.script = \"/path\"");
    return loaded;
}

} // namespace pinfold
