// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "cli/common_options.hpp"
#include "cli/each_job.hpp"
#include "cli/job_details.hpp"
#include "cli/job_page.hpp"
#include "cli/journal_lines.hpp"
#include "cli/node_page.hpp"
#include "cli/verbs.hpp"
#include "os/process.hpp"
#include "wording/receipt_text.hpp"
#include "wording/wrap.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

struct StatusOptions {
    std::vector<std::string> jobs; ///< the jobs on the command line; if `jobs` is empty, `pinfold status` describes the node
    bool withJobs = false;
};

OptionSet describe(StatusOptions& options) {
    auto jobs = jobsArgument(options.jobs, Offer::AllJobs);
    jobs.help = "the jobs' keys, or ids of processes of the jobs (default: the node)";
    jobs.required = false;
    return {std::move(jobs),
            {.name = "--jobs", .help = "show the node, and each live job", .set = into(options.withJobs), .excludes = "JOB"}};
}

/// Returns the last journal entries about the job. If the caller is not allowed to read the whole journal, the result ends with a
/// sentence about the missing entries.
std::string journalPart(const VerbContext& context, const std::string& unit) {
    auto text = lastJournalLines(unit, context.terminal);
    if (!mayReadWholeJournal())
        text += wrapped(fmt::format("Of the journal, {}.", kOnlyOwnEntries), context.terminal.width()) + "\n";
    return text;
}

ExitStatus liveStatus(const VerbContext& context, const JobDetail& detail) {
    if (context.json) {
        context.terminal.print(jsonJob(detail));
        return ExitStatus::Ok;
    }
    auto text = jobPage(detail, context.terminal, context.amounts, context.tableStyle());
    if (const auto lines = journalPart(context, detail.job.unit); !lines.empty())
        text += "\n" + lines;
    context.terminal.print(text);
    return ExitStatus::Ok;
}

ExitStatus nodeStatus(const VerbContext& context, bool withJobs) {
    const auto connected = ManagerClient::connect();
    if (!connected)
        return fail(connected.error());
    const auto& client = *connected;
    const auto version = client.version();
    if (!version)
        return fail(version.error());
    const auto jobs = client.listJobs();
    if (!jobs)
        return fail(jobs.error());
    const auto drain = client.draining();
    if (!drain)
        return fail(drain.error());
    const auto resources = client.resources();
    if (!resources)
        return fail(resources.error());
    std::optional<std::vector<JobDetail>> details;
    if (withJobs) {
        auto asked = askDetails(client, *jobs, kAllParts);
        if (!asked)
            return fail(asked.error());
        details = std::move(*asked);
    }
    const NodeStatus node{
        .version = *version, .jobs = *jobs, .drain = *drain, .resources = *resources, .lastErrors = lastErrorsOfDaemon()};
    if (context.json) {
        context.terminal.print(jsonNode(node, details));
        return ExitStatus::Ok;
    }
    context.terminal.print(nodePage(node, context.terminal, context.amounts, context.tableStyle()));
    for (const auto& detail : details.value_or(std::vector<JobDetail>{})) {
        context.terminal.print("\n");
        liveStatus(context, detail);
    }
    return ExitStatus::Ok;
}

ExitStatus endedStatus(const VerbContext& context, const Receipt& receipt) {
    context.terminal.print(context.json ? jsonReceipt(receipt)
                                        : receiptPage(receipt, userName, context.amounts, context.terminal.width()));
    return ExitStatus::NotRunning;
}

ExitStatus jobStatus(const VerbContext& context, std::string key) {
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    if (const auto pid = parseUnsigned(key)) { // the key of a job contains a dot, so a plain number is the id of a process
        const auto job = client->jobOfProcess(static_cast<pid_t>(*pid));
        if (!job)
            return fail(job.error());
        key = job->first;
    }
    const auto detail = askDetail(*client, key);
    if (detail)
        return liveStatus(context, *detail);
    if (detail.error().code != ErrorCode::NoSuchJob)
        return fail(detail.error());
    const auto receipt = client->receipt(key);
    return receipt ? endedStatus(context, *receipt) : fail(receipt.error());
}

ExitStatus status(const VerbContext& context, const StatusOptions& options) {
    if (options.jobs.empty())
        return nodeStatus(context, options.withJobs);
    return forEachJob(context, options.jobs, {.pages = true, .orProcess = true}, jobStatus);
}

} // namespace

Verb statusVerb() {
    return makeVerb<StatusOptions>("status", "show the node, or jobs by key or by a process's id", describe, status);
}

} // namespace pinfold
