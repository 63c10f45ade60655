// SPDX-License-Identifier: LGPL-2.1-or-later
#include "build_config.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"
#include "model/job_key.hpp"
#include "systemd/unit_properties.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string_view>

namespace pinfold {
namespace {

constexpr const char* kChosenLater = "\nand the CPUs, memory nodes and GPUs that pinfoldd gives the job when it starts\n";

template <class List, class Text> std::string listed(const List& list, const char* separator, Text text) {
    std::string out;
    for (const auto& entry : list)
        out += (out.empty() ? "" : separator) + text(entry);
    return out;
}

std::string text(const UnitProperty::Value& value) {
    struct Text {
        std::string operator()(bool flag) const { return flag ? "yes" : "no"; }
        std::string operator()(std::int32_t number) const { return std::to_string(number); }
        std::string operator()(std::uint64_t number) const { return Amounts::number(number); }
        std::string operator()(const std::string& words) const { return words; }
        std::string operator()(const std::vector<std::string>& names) const {
            return listed(names, " ", [](const std::string& name) { return name; });
        }
        std::string operator()(const std::vector<std::uint8_t>& bitmap) const {
            return listed(bitmap, " ", [](std::uint8_t byte) { return std::to_string(byte); }) + " (bit mask)";
        }
        std::string operator()(const UnitProperty::DeviceAmounts& list) const {
            return listed(list, ", ", [](const auto& entry) { return entry.first + " " + Amounts::number(entry.second); });
        }
        std::string operator()(const UnitProperty::DeviceRules& rules) const {
            return listed(rules, ", ", [](const auto& rule) { return rule.first + " " + rule.second; });
        }
        std::string operator()(const std::vector<std::uint32_t>&) const { return "(the job's leader)"; }
    };
    return std::visit(Text{}, value);
}

std::string unitText(const std::string& unit, const std::vector<UnitProperty>& properties) {
    std::string out = "[" + unit + "]\n";
    for (const auto& property : properties)
        out += property.name + "=" + text(property.value) + "\n";
    return out;
}

/// Says whether an option before the command has its value in the next word.
bool takesValue(std::string_view option) {
    if (option == "-j")
        return true;
    static constexpr std::string_view kFlags[] = {"--exec",  "--exclusive", "--dry-run",  "--json", "--full",
                                                  "--bytes", "--no-legend", "--no-pager", "--help"};
    return option.starts_with("--") && option.find('=') == option.npos &&
           std::find(std::begin(kFlags), std::end(kFlags), option) == std::end(kFlags);
}

} // namespace

ExitStatus verbRun(const VerbContext& context) {
    const auto& line = context.line;
    if (!line.dryRun) // options stand before `run`: otherwise this process would be pinfold-run by now
        return fail({ErrorCode::InvalidArgument, "options stand before 'run': use pinfold run [LIMITS] -- COMMAND"});
    const auto key = line.job.empty() ? Result<JobKey>(JobKey::manual(1)) : JobKey::parse(line.job);
    if (!key)
        return fail(key.error());
    if (auto valid = validate(line.limits); !valid)
        return fail(valid.error());
    if (auto valid = validate(line.allocation); !valid)
        return fail(valid.error());
    StartRequest request;
    request.slice = key->sliceName();
    request.sliceProperties = sliceProperties(*key, {line.limits, {}});
    request.scope = key->scopeName(0);
    request.scopeProperties = scopeProperties(*key, 0, {line.limits, {}}, {});
    context.terminal.print(line.json ? jsonUnits(request)
                                     : unitText(request.slice, request.sliceProperties) + "\n" +
                                           unitText(request.scope, request.scopeProperties) +
                                           (line.allocation.empty() ? "" : kChosenLater));
    return ExitStatus::Ok;
}

std::optional<int> wordsOfDryRun(int argc, char** argv) {
    bool dryRun = false;
    int command = 2;
    for (; command < argc && *argv[command] == '-' && std::string_view(argv[command]) != "--"; ++command) {
        dryRun = dryRun || std::string_view(argv[command]) == "--dry-run";
        if (takesValue(argv[command]))
            ++command;
    }
    return dryRun ? std::optional(std::min(command, argc)) : std::nullopt;
}

int becomePinfoldRun(int argc, char** argv) {
    if (argc < 2 || std::string_view(argv[1]) != "run")
        return argc;
    if (const auto words = wordsOfDryRun(argc, argv))
        return *words;
    std::string name = "pinfold-run";
    argv[1] = name.data();
    ::execv(PINFOLD_RUN, argv + 1);
    std::fprintf(stderr, "pinfold: %s: %s\n", PINFOLD_RUN, std::strerror(errno));
    ::_exit(kRunFailed);
}

} // namespace pinfold
