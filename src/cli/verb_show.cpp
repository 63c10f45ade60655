// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/escape.hpp"
#include "cli/job_page.hpp"
#include "cli/suggestion.hpp"
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
    if constexpr (kIsNumber<std::optional<T>>)
        return Amounts::number(value);
    else
        return limitText(*value);
}

/// The names are the JSON keys. A value that is unset or unknown is empty.
std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names)
        text += (text.empty() ? "" : ",") + name;
    return text;
}

Pairs pairsOf(const JobDetail& detail) {
    const auto& job = detail.job;
    Pairs pairs{{"key", job.key},
                {"user", userName(job.uid)},
                {"uid", std::to_string(job.uid)},
                {"state", std::string(toString(job.state))},
                {"tasks", std::to_string(job.tasks)},
                {"leader", job.leader ? std::to_string(*job.leader) : ""},
                {"slice", job.slice},
                {"unit", job.unit},
                {"created", std::to_string(job.created)}};
    forEachLimit(detail.limits, [&pairs](const LimitRow& row, const auto& value) { pairs.emplace_back(row.name, text(value)); });
    pairs.emplace_back("limits_not_enforced", joined(detail.limitsNotEnforced));
    pairs.emplace_back("allocated_cpus", detail.allocation.cpus.toString());
    pairs.emplace_back("allocated_gpus", detail.allocation.gpus.toString());
    pairs.emplace_back("exclusive", detail.allocation.exclusive ? "true" : "false");
    const auto usage = detail.usage.value_or(Usage{});
    forEachUsage(usage, [&pairs](const char* name, const auto& value) { pairs.emplace_back(name, text(value)); });
    return pairs;
}

} // namespace

ExitStatus verbShow(const VerbContext& context) {
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    const auto detail = askDetail(*client, context.line.job);
    if (!detail)
        return fail(detail.error());
    if (context.line.json) {
        context.terminal.print(jsonJob(*detail));
        return ExitStatus::Ok;
    }
    const auto pairs = pairsOf(*detail);
    std::string out;
    const auto add = [&](const auto& pair) { out += (context.line.valueOnly ? "" : pair.first + "=") + pair.second + "\n"; };
    for (const auto& wanted : context.line.properties) {
        const auto found = std::find_if(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == wanted; });
        if (found == pairs.end()) {
            std::vector<std::string> names;
            for (const auto& pair : pairs)
                names.push_back(pair.first);
            return fail(
                {ErrorCode::InvalidArgument, "unknown property '" + printable(wanted, 100) + "'" + suggestion(wanted, names)});
        }
        add(*found);
    }
    if (context.line.properties.empty())
        for (const auto& pair : pairs)
            add(pair);
    context.terminal.print(out);
    return ExitStatus::Ok;
}

} // namespace pinfold
