// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/archive_receipts.hpp"
#include "cli/common_options.hpp"
#include "cli/each_job.hpp"
#include "cli/job_details.hpp"
#include "cli/json.hpp"
#include "cli/receipts.hpp"
#include "cli/verbs.hpp"
#include "wording/profile_text.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

constexpr std::size_t kUsualWidth = 80;

struct PlotOptions {
    std::vector<std::string> jobs;
};

OptionSet describe(PlotOptions& options) { return {jobsArgument(options.jobs, Offer::AllJobs)}; }

ChartLimits limitsIn(const Receipt& receipt) { return chartLimits(receipt.limits, receipt.slots); }

/// If the job is live, returns the job's limits. If the job is over, returns the limits in the job's receipt. If pinfoldd reports
/// an error, the result has no limits, and the chart is drawn without limits.
ChartLimits limitsOf(const ManagerClient& client, const std::string& key) {
    if (const auto job = client.job(key))
        if (const auto holding = client.holding(*job))
            return chartLimits(holding->limits, holding->slots);
    const auto receipt = client.receipt(key);
    return receipt ? limitsIn(*receipt) : ChartLimits{};
}

std::string chartsOf(const VerbContext& context, const std::string& key, const Profile& profile, const ChartLimits& limits) {
    const auto width = context.terminal.width() > 0 ? context.terminal.width() : kUsualWidth;
    const auto charts = profileCharts(profile, limits, context.amounts, width);
    return charts.empty()
               ? fmt::format("pinfoldd has not looked at job {}: the job was too short, or profile.interval is 0.\n", key)
               : charts;
}

ExitStatus plotOnNode(const VerbContext& context, const std::string& key) {
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    const auto profile = client->profile(key);
    if (!profile)
        return fail(profile.error());
    context.terminal.print(context.json ? jsonProfile(key, *profile) : chartsOf(context, key, *profile, limitsOf(*client, key)));
    return ExitStatus::Ok;
}

/// Prints the charts of each host of the job below the name of the host. If the profile of one host cannot be read, the charts of
/// the other hosts are still printed.
ExitStatus plotHosts(const VerbContext& context, const std::string& key, const HostsOfJob& job) {
    auto status = ExitStatus::Ok;
    std::vector<HostProfile> profiles;
    std::string text;
    for (const auto& host : job.hosts)
        for (const auto& receipt : host.receipts) {
            auto profile = profileOf(receipt);
            if (!profile) {
                status = fail(profile.error());
                continue;
            }
            text += fmt::format("{}Host {}, from {} on\n\n{}", text.empty() ? "" : "\n", host.name,
                                context.amounts.time(receipt.started), chartsOf(context, key, *profile, limitsIn(receipt)));
            profiles.push_back({.host = host.name, .started = receipt.started, .profile = *std::move(profile)});
        }
    context.terminal.print(context.json ? jsonProfiles(key, profiles) : text);
    return status;
}

ExitStatus plotFromArchive(const VerbContext& context, const std::string& key) {
    auto receipts = receiptsOfNewestRun(key, WithProfiles::Yes);
    if (!receipts)
        return fail(receipts.error());
    const auto job = hostsOfJob(*std::move(receipts));
    if (job.hosts.size() > 1 || job.hosts.front().receipts.size() > 1)
        return plotHosts(context, key, job);
    const auto& only = job.hosts.front().receipts.front();
    const auto profile = profileOf(only);
    if (!profile)
        return fail(profile.error());
    context.terminal.print(context.json ? jsonProfile(key, *profile) : chartsOf(context, key, *profile, limitsIn(only)));
    return ExitStatus::Ok;
}

ExitStatus plotJob(const VerbContext& context, const std::string& key) {
    const auto archive = asksArchive();
    if (!archive)
        return fail(archive.error());
    return *archive && !isLiveHere(key) ? plotFromArchive(context, key) : plotOnNode(context, key);
}

ExitStatus plot(const VerbContext& context, const PlotOptions& options) {
    return forEachJob(context, options.jobs, {.pages = true}, plotJob);
}

} // namespace

Verb plotVerb() { return makeVerb<PlotOptions>("plot", "draw what jobs used over time", describe, plot); }

} // namespace pinfold
