// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/common_options.hpp"
#include "cli/each_job.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"
#include "wording/profile_text.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

constexpr std::size_t kUsualWidth = 80;

struct Options {
    std::vector<std::string> jobs;
};

OptionSet describe(Options& options) { return {jobsArgument(options.jobs, Offer::AllJobs)}; }

/// Returns the limits of a live job, or else the limits in the receipt. If pinfoldd reports an error, the result has no limits,
/// because a chart needs no limits.
ChartLimits limitsOf(const ManagerClient& client, const std::string& key) {
    if (const auto limits = client.limits(key))
        return chartLimits(*limits);
    const auto receipt = client.receipt(key);
    return receipt ? chartLimits(receipt->limits) : ChartLimits{};
}

ExitStatus plotJob(const VerbContext& context, const std::string& key) {
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    const auto profile = client->profile(key);
    if (!profile)
        return fail(profile.error());
    if (context.json) {
        context.terminal.print(jsonProfile(key, *profile));
        return ExitStatus::Ok;
    }
    const auto width = context.terminal.width() > 0 ? context.terminal.width() : kUsualWidth;
    const auto charts = profileCharts(*profile, limitsOf(*client, key), context.amounts, width);
    context.terminal.print(charts.empty() ? fmt::format("pinfoldd has not looked at job {}: the job was too short, or "
                                                        "profile.interval is 0.\n",
                                                        key)
                                          : charts);
    return ExitStatus::Ok;
}

ExitStatus plot(const VerbContext& context, const Options& options) {
    return forEachJob(context, options.jobs, {.pages = true}, plotJob);
}

} // namespace

Verb plotVerb() { return makeVerb("plot", "draw what jobs used over time", describe, plot); }

} // namespace pinfold
