// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "cli/common_options.hpp"
#include "cli/each_job.hpp"
#include "cli/job_page.hpp"
#include "cli/journal_lines.hpp"
#include "cli/verbs.hpp"
#include "os/process.hpp"
#include "wording/receipt_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace pinfold {
namespace {

struct Options {
    std::vector<std::string> jobs; ///< if empty, the verb is about the node
    bool withJobs = false;
};

OptionSet describe(Options& options) {
    auto jobs = jobsArgument(options.jobs, Offer::AllJobs);
    jobs.help = "the jobs' keys, or ids of processes of the jobs (default: the node)";
    jobs.required = false;
    return {std::move(jobs),
            {.name = "--jobs", .help = "show the node, and each live job", .set = into(options.withJobs), .excludes = "JOB"}};
}

std::string drainLine(const Drain& drain, const Terminal& terminal) {
    return fmt::format("{}{} by {}: {}\n", terminal.colored(Tone::Warning, "draining"),
                       drain.since ? " since " + formatUtc(*drain.since) : "", drain.by ? userName(*drain.by) : "pinfoldd itself",
                       drain.reason.empty() ? "no reason given" : drain.reason);
}

ExitStatus liveStatus(const VerbContext& context, const JobDetail& detail) {
    if (context.json) {
        context.terminal.print(jsonJob(detail));
        return ExitStatus::Ok;
    }
    auto text = jobPage(detail, context.terminal, context.amounts, context.tableStyle());
    if (const auto lines = lastJournalLines(detail.job.unit, context.terminal); !lines.empty())
        text += "\n" + lines;
    context.terminal.print(text);
    return ExitStatus::Ok;
}

/// Asks for the details of the jobs, and leaves out jobs that end meanwhile.
Result<std::vector<JobDetail>> askDetails(const ManagerClient& client, const std::vector<JobInfo>& jobs) {
    std::vector<JobDetail> details;
    for (const auto& job : jobs) {
        auto detail = askDetailWithoutProcesses(client, job.key);
        if (detail)
            details.push_back(std::move(*detail));
        else if (detail.error().code != ErrorCode::NoSuchJob)
            return detail.error();
    }
    return details;
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
    std::optional<std::vector<JobDetail>> details;
    if (withJobs) {
        auto asked = askDetails(client, *jobs);
        if (!asked)
            return fail(asked.error());
        details = std::move(*asked);
    }
    if (context.json) {
        context.terminal.print(jsonNode(*version, *jobs, *drain, details));
        return ExitStatus::Ok;
    }
    std::map<std::string_view, std::size_t> states;
    for (const auto& job : *jobs)
        ++states[toString(job.state)];
    std::string text = fmt::format("pinfoldd {} is running, {}", *version, counted(jobs->size(), "live job", "live jobs"));
    for (const auto& [state, count] : states)
        text += fmt::format(", {} {}", count, state);
    text += "\n";
    if (*drain)
        text += drainLine(**drain, context.terminal);
    context.terminal.print(text);
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
    if (const auto pid = parseUnsigned(key)) { // a key contains a dot, so a number is a process id
        const auto job = client->jobOfProcess(static_cast<pid_t>(std::min<std::uint64_t>(*pid, INT32_MAX)));
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

ExitStatus status(const VerbContext& context, const Options& options) {
    if (options.jobs.empty())
        return nodeStatus(context, options.withJobs);
    return forEachJob(context, options.jobs, {.pages = true, .orProcess = true}, jobStatus);
}

} // namespace

Verb statusVerb() { return makeVerb("status", "show the node, or jobs by key or by a process's id", describe, status); }

} // namespace pinfold
