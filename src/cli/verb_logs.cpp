// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/common_options.hpp"
#include "cli/job_name.hpp"
#include "cli/verbs.hpp"
#include "model/job_key.hpp"

#include <fmt/core.h>

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace pinfold {
namespace {

struct Options {
    std::string job;
    bool follow = false;
    std::optional<std::uint32_t> lines;
};

OptionSet describe(Options& options) {
    return {jobArgument(options.job, Offer::AllJobs),
            {.name = "--follow", .letter = 'f', .help = "wait for new messages and show them", .set = into(options.follow)},
            {.name = "--lines",
             .letter = 'n',
             .value = "N",
             .help = "show only this many of the newest messages",
             .set = into(options.lines, numberFrom(0, UINT32_MAX))}};
}

/// Matches what pinfoldd, root's other programs and systemd have said about the job, and what the job's own processes have said.
/// Every user may write PINFOLD_JOB= and UNIT= into the journal, so we match the sender as well, by fields that journald writes
/// itself.
std::vector<std::string> matchesOf(const JobKey& key) {
    return {
        "PINFOLD_JOB=" + key.text(), "_UID=0", "+", "UNIT=" + key.sliceName(),
        "UNIT=" + key.scopeName(0),  "_PID=1", "+", "_SYSTEMD_SLICE=" + key.sliceName(),
    };
}

/// Replaces this process with journalctl.
ExitStatus logs(const VerbContext& context, const Options& options) {
    const auto name = keyOf(options.job);
    if (!name)
        return fail(name.error());
    const auto key = JobKey::parse(*name);
    if (!key)
        return fail(key.error());
    std::vector<std::string> words{"journalctl", context.json ? "--output=json" : "--output=short-iso"};
    if (!context.output.terminal.pager)
        words.emplace_back("--no-pager");
    if (options.follow)
        words.emplace_back("--follow");
    if (options.lines)
        words.push_back(fmt::format("--lines={}", *options.lines));
    for (auto& match : matchesOf(*key))
        words.push_back(std::move(match));
    std::vector<char*> arguments;
    for (auto& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    return fail({ErrorCode::Internal, std::string("cannot run journalctl: ") + std::strerror(errno)});
}

} // namespace

Verb logsVerb() { return makeVerb("logs", "show the journal's messages about a job", describe, logs); }

} // namespace pinfold
