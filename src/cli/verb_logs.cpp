// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/common_options.hpp"
#include "cli/job_name.hpp"
#include "cli/journal_lines.hpp"
#include "cli/verbs.hpp"
#include "model/job_key.hpp"

#include <cstdio>

namespace pinfold {
namespace {

constexpr std::uint64_t kLinesBefore = 10; // the number of lines that --follow prints before it waits for new lines

struct LogsOptions {
    std::string job;
    bool follow = false;
    std::optional<std::uint32_t> lines;
};

OptionSet describe(LogsOptions& options) {
    return {jobArgument(options.job, Offer::AllJobs),
            {.name = "--follow", .letter = 'f', .help = "wait for new messages and show them", .set = into(options.follow)},
            {.name = "--lines",
             .letter = 'n',
             .value = "N",
             .help = "show only this many of the newest messages",
             .set = into(options.lines, numberFrom(0, UINT32_MAX))}};
}

/// Returns the filters that select a job's entries in the journal. The filters of matchesOf() select all entries that the job's
/// own processes wrote. The filters also select entries about the job if a process of root wrote the entries. Every user can
/// write entries with PINFOLD_JOB= and UNIT= into the journal. To check who wrote an entry, the filters use fields that only
/// journald can set.
JournalMatches matchesOf(const JobKey& key) {
    return {{"PINFOLD_JOB=" + key.text(), "_UID=0"},
            {"UNIT=" + key.sliceName(), "UNIT=" + key.scopeName(0), "_PID=1"},
            {"_SYSTEMD_SLICE=" + key.sliceName()}};
}

std::string shown(const VerbContext& context, const JournalEntry& entry) {
    return context.json ? jsonJournalEntry(entry) : journalLine(entry, context.terminal);
}

/// Prints the entries of `journal` to the stream `to`. copy() returns after the last entry, or when nobody reads the output any
/// more. Returns how many entries copy() has printed.
Result<std::size_t> copy(const VerbContext& context, JournalReader& journal, std::FILE* to) {
    std::size_t count = 0;
    while (std::ferror(to) == 0) {
        const auto entry = journal.next();
        if (!entry)
            return entry.error();
        if (!*entry)
            break;
        std::fputs(shown(context, **entry).c_str(), to);
        ++count;
    }
    return count;
}

Result<std::size_t> printAll(const VerbContext& context, JournalReader& journal, std::optional<std::uint32_t> lines) {
    Result<std::size_t> count = 0;
    context.terminal.print([&](std::FILE* to) {
        const auto there = lines ? journal.goToNewest(*lines) : journal.goToOldest();
        count = there ? copy(context, journal, to) : there.error();
    });
    return count;
}

Result<void> follow(const VerbContext& context, JournalReader& journal, std::optional<std::uint32_t> lines) {
    auto done = journal.goToNewest(lines.value_or(kLinesBefore));
    while (done && std::ferror(stdout) == 0) {
        const auto count = copy(context, journal, stdout);
        std::fflush(stdout);
        done = count ? journal.wait() : count.error();
    }
    return done;
}

ExitStatus logs(const VerbContext& context, const LogsOptions& options) {
    const auto name = keyOf(options.job);
    if (!name)
        return fail(name.error());
    const auto key = JobKey::parse(*name);
    if (!key)
        return fail(key.error());
    auto journal = JournalReader::open(matchesOf(*key));
    if (!journal)
        return fail(journal.error());
    if (!mayReadWholeJournal())
        std::fprintf(stderr, "pinfold: %s\n", kOnlyOwnEntries);
    if (options.follow) {
        const auto done = follow(context, *journal, options.lines);
        return done ? ExitStatus::Ok : fail(done.error());
    }
    const auto count = printAll(context, *journal, options.lines);
    if (!count)
        return fail(count.error());
    if (*count == 0 && options.lines != 0U)
        std::fprintf(stderr, "pinfold: the journal has no entry about job %s\n", key->text().c_str());
    return ExitStatus::Ok;
}

} // namespace

Verb logsVerb() { return makeVerb<LogsOptions>("logs", "show the journal's messages about a job", describe, logs); }

} // namespace pinfold
