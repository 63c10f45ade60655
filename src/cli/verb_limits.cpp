// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/json.hpp"
#include "cli/limit_text.hpp"
#include "cli/verbs.hpp"

#include <cstdio>

namespace pinfold {
namespace {

std::vector<std::string> notEnforced(const VerbContext& context, const ManagerClient& client) {
    auto names = client.limitsNotEnforced(context.line.job);
    return names ? std::move(*names) : std::vector<std::string>(); // an older pinfoldd lacks this property
}

ExitStatus list(const VerbContext& context, const ManagerClient& client, const ResourceLimits& limits) {
    const auto names = notEnforced(context, client);
    const auto& line = context.line;
    context.terminal.print(line.json ? jsonLimits(line.job, limits, names)
                                     : titleOf(line) + limitsTable(limits, names, context.amounts, context.tableStyle()));
    return ExitStatus::Ok;
}

ExitStatus sayWhatWouldBeDone(const VerbContext& context, const ResourceLimits& now) {
    const auto& change = context.line.limits;
    context.terminal.print(titleOf(context.line) + "Dry run; nothing was changed:\n" +
                           changeLines(change, now, withDefaults(change, now), context.amounts));
    return ExitStatus::Ok;
}

ExitStatus change(const VerbContext& context, const ManagerClient& client, const ResourceLimits& before) {
    const auto& line = context.line;
    const auto after = client.setLimits(line.job, line.limits, line.force);
    if (!after)
        return fail(after.error());
    const auto names = notEnforced(context, client);
    context.terminal.print(line.json ? jsonLimits(line.job, *after, names)
                                     : titleOf(line) + changeLines(line.limits, before, *after, context.amounts));
    std::fputs(enforcementWarnings(line.limits, *after, names).c_str(), stderr);
    return ExitStatus::Ok;
}

} // namespace

ExitStatus verbLimits(const VerbContext& context) {
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    const auto limits = client->limits(context.line.job);
    if (!limits)
        return fail(limits.error());
    if (context.line.limits == ResourceLimits{})
        return list(context, *client, *limits);
    return context.line.dryRun ? sayWhatWouldBeDone(context, *limits) : change(context, *client, *limits);
}

} // namespace pinfold
