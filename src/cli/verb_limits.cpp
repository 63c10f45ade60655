// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/common_options.hpp"
#include "cli/each_job.hpp"
#include "cli/json.hpp"
#include "cli/limit_text.hpp"
#include "cli/systemd_limit.hpp"
#include "cli/verbs.hpp"
#include "options/job_options.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <sstream>

namespace pinfold {
namespace {

struct LimitsOptions {
    std::vector<std::string> jobs;
    ResourceLimits limits;
    bool force = false;
    bool dryRun = false;
};

OptionSet describe(LimitsOptions& options) {
    OptionSet set{jobsArgument(options.jobs)};
    append(set, limitOptions(options.limits));
    append(set, {{.name = "--force",
                  .help = "allow a memory-max below what the job uses; the kernel then kills the job",
                  .set = into(options.force)},
                 dryRunOption(options.dryRun)});
    return set;
}

Enforcement enforcementOf(const ManagerClient& client, const std::string& key, const ResourceLimits& limits) {
    Enforcement found;
    // An older pinfoldd does not have the property LimitsNotEnforced.
    if (auto names = client.limitsNotEnforced(key))
        found.notEnforced = std::move(*names);
    if (!limits.tasksMax)
        found.systemdTasksMax = systemdTasksMax(CgroupTree(), key);
    return found;
}

ExitStatus showLimits(const VerbContext& context, const ManagerClient& client, const std::string& key,
                      const ResourceLimits& limits) {
    const auto enforcement = enforcementOf(client, key, limits);
    context.terminal.print(context.json
                               ? jsonLimits(key, limits, enforcement)
                               : context.title + limitsTable(limits, enforcement, context.amounts, context.tableStyle()));
    return ExitStatus::Ok;
}

std::vector<std::string> linesOf(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(std::move(line));
    return lines;
}

ExitStatus sayWhatWouldChange(const VerbContext& context, const std::string& key, const ResourceLimits& change,
                              const ResourceLimits& now) {
    const auto changes = changeLines(change, now, withDefaults(change, now), context.amounts);
    context.terminal.print(context.json ? jsonDryRun(key, linesOf(changes))
                                        : fmt::format("{}Dry run; nothing was changed:\n{}", context.title, changes));
    return ExitStatus::Ok;
}

ExitStatus change(const VerbContext& context, const ManagerClient& client, const std::string& key, const LimitsOptions& options,
                  const ResourceLimits& before) {
    const auto after = client.setLimits(key, options.limits, options.force);
    if (!after)
        return fail(after.error());
    const auto enforcement = enforcementOf(client, key, *after);
    context.terminal.print(context.json ? jsonLimits(key, *after, enforcement)
                                        : context.title + changeLines(options.limits, before, *after, context.amounts));
    std::fputs(enforcementWarnings(options.limits, *after, enforcement.notEnforced).c_str(), stderr);
    return ExitStatus::Ok;
}

ExitStatus limitsOfJob(const VerbContext& context, const LimitsOptions& options, const std::string& key) {
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    const auto limits = client->limits(key);
    if (!limits)
        return fail(limits.error());
    if (options.limits == ResourceLimits{})
        return showLimits(context, *client, key, *limits);
    return options.dryRun ? sayWhatWouldChange(context, key, options.limits, *limits)
                          : change(context, *client, key, options, *limits);
}

ExitStatus limits(const VerbContext& context, const LimitsOptions& options) {
    return forEachJob(context, options.jobs, {.pages = true},
                      [&](const VerbContext& one, const std::string& key) { return limitsOfJob(one, options, key); });
}

} // namespace

Verb limitsVerb() { return makeVerb<LimitsOptions>("limits", "show the limits of live jobs, or change them", describe, limits); }

} // namespace pinfold
