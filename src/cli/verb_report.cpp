// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/escape.hpp"
#include "base/parse.hpp"
#include "bus_client/manager_client.hpp"
#include "cli/common_options.hpp"
#include "cli/job_name.hpp"
#include "cli/receipts.hpp"
#include "cli/site_tables.hpp"
#include "cli/verbs.hpp"
#include "os/replace_file.hpp"
#include "wording/hosts_text.hpp"
#include "wording/report_html.hpp"
#include "wording/site_report_html.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <filesystem>

namespace pinfold {
namespace {

constexpr std::uint32_t kMostReported = 10'000;
constexpr auto kSiteDays = 7 * 24h;
constexpr std::size_t kWidth = 80;

struct ReportOptions {
    std::vector<std::string> jobs; ///< without `jobs` and `site`, the report lists the jobs that match the other options
    std::string file;              ///< if `file` is empty, pinfold prints the report
    std::optional<std::string> since;
    std::optional<std::string> until;
    std::optional<std::string> user;
    bool site = false;
};

OptionSet describe(ReportOptions& options) {
    auto jobs = jobsArgument(options.jobs, Offer::EndedJobs);
    jobs.help = "the jobs' keys (default: a list of all jobs that match the options)";
    jobs.required = false;
    jobs.excludes = "--site";
    auto user = userOption(options.user);
    user.excludes = "JOB";
    return {std::move(jobs),
            {.name = "--output-file",
             .letter = 'o',
             .value = "FILE",
             .help = "write the report to this file, and not to standard output",
             .set = into(options.file)},
            {.name = "--since",
             .letter = 'S',
             .value = "TIME",
             .help = "list only jobs that ended since this time: 2026-11-20, \"2026-11-20 12:00\", -1h, today",
             .set = into(options.since),
             .excludes = "JOB"},
            {.name = "--until",
             .letter = 'E',
             .value = "TIME",
             .help = "list only jobs that ended before this time",
             .set = into(options.until),
             .excludes = "JOB"},
            std::move(user),
            {.name = "--site",
             .help = "write figures of all nodes of the site from the archive (default: of the last 7 days)",
             .set = into(options.site),
             .excludes = "--user"}};
}

Result<std::string> reportOnJobs(const std::vector<std::string>& names) {
    std::vector<ReportedJob> jobs;
    for (const auto& name : names) {
        const auto key = keyOf(name);
        auto receipts = key ? receiptsOfNewestRun(*key, WithProfiles::Yes) : Result<std::vector<Receipt>>(key.error());
        if (!receipts)
            return receipts.error();
        const auto hosts = hostsOfJob(*std::move(receipts));
        jobs.push_back({.receipt = hosts.explaining(),
                        .profile = knownProfileOf(hosts.explaining()),
                        .hosts = hosts.hosts.size() > 1 ? hostsPage(hosts, userName, {.local = true}, kWidth) : ""});
    }
    return htmlReport(jobs, userName);
}

/// Reads a time that the user typed, and leaves `time` unchanged if the user typed none.
Result<void> readTime(const std::optional<std::string>& text, std::optional<RealTime>& time) {
    if (!text)
        return {};
    const auto read = parseWhen(*text, RealClock::now());
    if (!read)
        return read.error();
    time = *read;
    return {};
}

Result<std::string> reportOnMatches(const ReportOptions& options) {
    ReceiptFilter filter{.limit = kMostReported};
    if (options.user) {
        const auto uid = userId(*options.user);
        if (!uid)
            return uid.error();
        filter.uid = *uid;
    }
    if (auto read = readTime(options.since, filter.since); !read)
        return read.error();
    if (auto read = readTime(options.until, filter.until); !read)
        return read.error();
    auto receipts = findReceipts(filter);
    if (!receipts)
        return receipts.error();
    if (receipts->size() == kMostReported)
        std::fprintf(stderr, "pinfold: the report has at most %u jobs, so older jobs may be missing; use --since or --user\n",
                     kMostReported);
    return htmlList(*std::move(receipts), userName);
}

Result<std::string> reportOnSite(const ReportOptions& options) {
    std::optional<RealTime> until = RealClock::now();
    if (auto read = readTime(options.until, until); !read)
        return read.error();
    std::optional<RealTime> since = *until - kSiteDays;
    if (auto read = readTime(options.since, since); !read)
        return read.error();
    if (*since >= *until)
        return Error{ErrorCode::InvalidArgument,
                     fmt::format("no job can have ended after {} and before {}: give --since an earlier time than --until",
                                 formatUtc(*since), formatUtc(*until))};
    const auto tables = siteTables(*since, *until);
    if (!tables)
        return tables.error();
    return htmlSiteReport(*tables, *since, *until);
}

Result<std::string> report(const ReportOptions& options) {
    if (options.site)
        return reportOnSite(options);
    return options.jobs.empty() ? reportOnMatches(options) : reportOnJobs(options.jobs);
}

/// Writes a new file, or replaces a regular file. writeReport() refuses devices and links, because replaceFile() would replace
/// a device or a link by a regular file.
Result<void> writeReport(const std::filesystem::path& file, const std::string& text) {
    std::error_code ignored;
    const auto there = std::filesystem::symlink_status(file, ignored);
    if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
        return Error{
            ErrorCode::InvalidArgument,
            fmt::format("{} is not a regular file: name another file, or leave out --output-file and redirect the output",
                        printable(file.string(), 300))};
    return replaceFile(file, text, 0600); // the mode is 0600, because command lines in receipts can contain secrets
}

ExitStatus runReport(const VerbContext& context, const ReportOptions& options) {
    const auto text = report(options);
    if (!text)
        return fail(text.error());
    if (options.file.empty()) {
        context.terminal.print(*text);
        return ExitStatus::Ok;
    }
    if (auto written = writeReport(options.file, *text); !written)
        return fail(written.error());
    return ExitStatus::Ok;
}

} // namespace

Verb reportVerb() {
    return makeVerb<ReportOptions>("report", "write an HTML page about jobs that are over", describe, runReport);
}

} // namespace pinfold
