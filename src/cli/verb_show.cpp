// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/archive_receipts.hpp"
#include "cli/common_options.hpp"
#include "cli/each_job.hpp"
#include "cli/job_details.hpp"
#include "cli/job_properties.hpp"
#include "cli/receipts.hpp"
#include "cli/verbs.hpp"

#include <algorithm>

namespace pinfold {
namespace {

struct ShowOptions {
    std::vector<std::string> jobs;
    std::vector<std::string> properties;
    bool valueOnly = false;
};

OptionSet describe(ShowOptions& options) {
    return {jobsArgument(options.jobs, Offer::AllJobs),
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

/// Returns the lines of the properties that the user selected. A live job and a job that is over have different properties. If
/// the job does not have a property, the line of the property has no value.
std::string linesOf(const Properties& properties, const ShowOptions& options) {
    std::string lines;
    const auto add = [&](const std::string& name, const std::string& value) {
        lines += (options.valueOnly ? "" : name + "=") + value + "\n";
    };
    for (const auto& wanted : options.properties) {
        const auto found = std::ranges::find(properties, wanted, &Properties::value_type::first);
        add(wanted, found == properties.end() ? "" : found->second);
    }
    if (options.properties.empty())
        for (const auto& [name, value] : properties)
            add(name, value);
    return lines;
}

ExitStatus showLive(const VerbContext& context, const ShowOptions& options, const JobDetail& detail) {
    context.terminal.print(context.json ? jsonJob(detail) : linesOf(propertiesOf(detail, userName(detail.job.uid)), options));
    return ExitStatus::Ok;
}

ExitStatus showEnded(const VerbContext& context, const ShowOptions& options, const HostsOfJob& job) {
    std::vector<Receipt> receipts;
    for (const auto& host : job.hosts)
        receipts.insert(receipts.end(), host.receipts.begin(), host.receipts.end());
    std::string text;
    for (const auto& receipt : receipts)
        text += (text.empty() ? "" : "\n") + linesOf(propertiesOf(receipt, userName(receipt.uid)), options);
    if (context.json)
        text = receipts.size() > 1 ? jsonHosts(job) : jsonReceipt(receipts.front());
    context.terminal.print(text);
    return ExitStatus::NotRunning;
}

/// Returns true if pinfoldd does not have to run on this host, because this host asks the archive.
bool needsNoDaemon() {
    const auto archive = asksArchive();
    return archive && *archive;
}

ExitStatus showJob(const VerbContext& context, const ShowOptions& options, const std::string& key) {
    const auto client = ManagerClient::connect();
    const auto detail = client ? askDetail(*client, key) : Result<JobDetail>(client.error());
    if (detail)
        return showLive(context, options, *detail);
    const bool isNotLive = detail.error().code == ErrorCode::NoSuchJob;
    if (!isNotLive && !(detail.error().code == ErrorCode::Unreachable && needsNoDaemon()))
        return fail(detail.error());
    auto receipts = receiptsOfNewestRun(key);
    if (!receipts)
        return fail(isNotLive && receipts.error().code == ErrorCode::NoSuchReceipt ? detail.error() : receipts.error());
    return showEnded(context, options, hostsOfJob(*std::move(receipts)));
}

ExitStatus show(const VerbContext& context, const ShowOptions& options) {
    return forEachJob(context, options.jobs, {.pages = true},
                      [&](const VerbContext& one, const std::string& key) { return showJob(one, options, key); });
}

} // namespace

Verb showVerb() { return makeVerb<ShowOptions>("show", "show a job as name=value lines", describe, show); }

} // namespace pinfold
