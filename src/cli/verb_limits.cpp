// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "cli/job_page.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"
#include "model/limit_table.hpp"

namespace pinfold {
namespace {

template <class T> std::string text(const LimitRow& row, const std::optional<T>& limit, const Amounts& amounts) {
    if (!limit)
        return "-";
    if constexpr (!kIsNumber<std::optional<T>>)
        return limitText(*limit);
    else if (row.form == LimitForm::Size)
        return amounts.size(limit);
    else if (row.form == LimitForm::Duration)
        return amounts.duration(limit);
    else if (row.form == LimitForm::Quota)
        return amounts.quota(limit);
    else
        return row.form == LimitForm::Signal ? signalName(static_cast<int>(*limit)) : Amounts::number(limit);
}

std::string table(const ResourceLimits& limits, const VerbContext& context) {
    std::vector<std::vector<std::string>> rows;
    forEachLimit(limits, [&](const char* name, const auto& limit) {
        rows.push_back(
            {name, text(limitRow(name), limit, context.amounts), limitRow(name).property ? limitRow(name).property : "-"});
    });
    return formatTable({{"limit"}, {"value"}, {"property"}}, rows, context.tableStyle());
}

ExitStatus print(const VerbContext& context, const ResourceLimits& limits) {
    const auto title = context.line.jobs.size() > 1 ? "Job " + context.line.job + "\n" : "";
    context.terminal.print(context.line.json ? jsonLimits(context.line.job, limits) : title + table(limits, context));
    return ExitStatus::Ok;
}

/// What is set of the request, over nothing: what would be sent.
ExitStatus sayWhatWouldBeDone(const VerbContext& context, const ResourceLimits& now) {
    std::string out;
    forEachLimit(context.line.limits, [&](const char* name, const auto& wanted) {
        forEachLimit(now, [&](const char* known, const auto& limit) {
            if constexpr (std::is_same_v<std::decay_t<decltype(wanted)>, std::decay_t<decltype(limit)>>)
                if (std::string_view(name) == known && wanted)
                    out += std::string("would change ") + name + " from " + text(limitRow(name), limit, context.amounts) +
                           " to " + text(limitRow(name), wanted, context.amounts) + "\n";
        });
    });
    context.terminal.print(out);
    return ExitStatus::Ok;
}

} // namespace

ExitStatus verbLimits(const VerbContext& context) {
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    const auto& line = context.line;
    const bool change = !(line.limits == ResourceLimits{});
    if (change && !line.dryRun) {
        const auto limits = client->setLimits(line.job, line.limits, line.force);
        return limits ? print(context, *limits) : fail(limits.error());
    }
    const auto limits = client->limits(line.job);
    if (!limits)
        return fail(limits.error());
    return change ? sayWhatWouldBeDone(context, *limits) : print(context, *limits);
}

} // namespace pinfold
