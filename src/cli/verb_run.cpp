// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/common_options.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"
#include "model/job_key.hpp"
#include "options/job_options.hpp"
#include "systemd/unit_properties.hpp"

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

struct RunOptions : JobOptions {
    bool dryRun = false;
    std::vector<std::string> command;
};

OptionSet describe(RunOptions& options) {
    OptionSet set{{.name = "COMMAND",
                   .help = "the command and its arguments, after --",
                   .set = into(options.command),
                   .values = Values::Several,
                   .offer = Offer::Commands},
                  dryRunOption(options.dryRun)};
    append(set, jobOptions(options));
    return set;
}

/// Does the work of `pinfold run --dry-run`.
ExitStatus run(const VerbContext& context, const RunOptions& options) {
    // Without --dry-run, pinfold calls run() only if an option stands before `run`. In all other cases without --dry-run,
    // pinfold-run has replaced pinfold.
    if (!options.dryRun)
        return fail({ErrorCode::InvalidArgument, "options stand before 'run': use pinfold run [LIMITS] -- COMMAND"});
    if (options.role != WrapperRole::Job)
        return fail({ErrorCode::InvalidArgument, "--dry-run shows the units of a new job: leave out --task and --batch"});
    const auto key = options.key.empty() ? Result<JobKey>(JobKey::manual(1)) : JobKey::parse(options.key);
    if (!key)
        return fail(key.error());
    if (auto valid = validate(options.limits); !valid)
        return fail(valid.error());
    if (auto valid = validate(options.allocation); !valid)
        return fail(valid.error());
    StartRequest request;
    request.slice = key->sliceName();
    request.sliceProperties = sliceProperties(*key, {options.limits, {}});
    request.scope = key->scopeName(0);
    request.scopeProperties = scopeProperties(*key, 0, {options.limits, {}}, {});
    context.terminal.print(context.json ? jsonUnits(request)
                                        : unitText(request.slice, request.sliceProperties) + "\n" +
                                              unitText(request.scope, request.scopeProperties) +
                                              (options.allocation.empty() ? "" : kChosenLater));
    return ExitStatus::Ok;
}

} // namespace

Verb runVerb() { return makeVerb<RunOptions>("run", "run a command as a job; see pinfold-run(1)", describe, run); }

} // namespace pinfold
