// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/common_options.hpp"
#include "cli/each_job.hpp"
#include "cli/job_details.hpp"
#include "cli/verbs.hpp"
#include "model/limit_table.hpp"
#include "model/set_limit.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

namespace pinfold {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

template <class T> std::string text(const std::optional<T>& value) {
    if (!value)
        return "";
    if constexpr (kIsTime<T>)
        return Amounts::number(toUsec(*value));
    else if constexpr (kIsNumber<std::optional<T>>)
        return Amounts::number(value);
    else
        return limitText(*value);
}

/// The properties have the same names as the keys of the JSON output. If a value is unset or unknown, `pinfold show` prints an
/// empty value.
std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names)
        text += (text.empty() ? "" : ",") + name;
    return text;
}

/// The argument `user` is the name of the job's owner.
Pairs pairsOf(const JobDetail& detail, const std::string& user) {
    const auto& job = detail.job;
    Pairs pairs{{"key", job.key},
                {"user", user},
                {"uid", std::to_string(job.uid)},
                {"state", std::string(toString(job.state))},
                {"tasks", std::to_string(job.tasks)},
                {"leader", job.leader ? std::to_string(*job.leader) : ""},
                {"slice", job.slice},
                {"unit", job.unit},
                {"created", std::to_string(toUsec(job.created))}};
    forEachLimit(detail.limits, [&pairs](const LimitRow& row, const auto& value) { pairs.emplace_back(row.name, text(value)); });
    pairs.emplace_back("limits_not_enforced", joined(detail.limitsNotEnforced));
    pairs.emplace_back("allocated_cpus", detail.allocation.cpus.toString());
    pairs.emplace_back("allocated_gpus", detail.allocation.gpus.toString());
    pairs.emplace_back("exclusive", detail.allocation.exclusive ? "true" : "false");
    const auto usage = detail.usage.value_or(Usage{});
    forEachUsage(usage, [&pairs](const char* name, const auto& value) { pairs.emplace_back(name, text(value)); });
    return pairs;
}

/// Returns the names of all properties that `pinfold show` can print.
std::vector<std::string> propertyNames() {
    std::vector<std::string> names;
    for (const auto& pair : pairsOf({}, {}))
        names.push_back(pair.first);
    return names;
}

struct Options {
    std::vector<std::string> jobs;
    std::vector<std::string> properties;
    bool valueOnly = false;
};

OptionSet describe(Options& options) {
    return {jobsArgument(options.jobs),
            {.name = "--property",
             .letter = 'p',
             .value = "NAME",
             .help = "show only this property; may be repeated",
             .set = into(options.properties),
             .values = Values::Repeated,
             .separator = ',',
             .words = propertyNames()},
            {.name = "--value", .help = "print only the values", .set = into(options.valueOnly)}};
}

ExitStatus showJob(const VerbContext& context, const Options& options, const std::string& key) {
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    const auto detail = askDetail(*client, key);
    if (!detail)
        return fail(detail.error());
    if (context.json) {
        context.terminal.print(jsonJob(*detail));
        return ExitStatus::Ok;
    }
    const auto pairs = pairsOf(*detail, userName(detail->job.uid));
    std::string out;
    const auto add = [&](const auto& pair) { out += (options.valueOnly ? "" : pair.first + "=") + pair.second + "\n"; };
    for (const auto& wanted : options.properties)
        add(*std::ranges::find(pairs, wanted, &Pairs::value_type::first));
    if (options.properties.empty())
        std::ranges::for_each(pairs, add);
    context.terminal.print(out);
    return ExitStatus::Ok;
}

ExitStatus show(const VerbContext& context, const Options& options) {
    return forEachJob(context, options.jobs, {.pages = true},
                      [&](const VerbContext& one, const std::string& key) { return showJob(one, options, key); });
}

} // namespace

Verb showVerb() { return makeVerb("show", "show a job as name=value lines", describe, show); }

} // namespace pinfold
