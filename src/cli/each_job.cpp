// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/each_job.hpp"

#include "cli/countdown.hpp"
#include "cli/job_name.hpp"
#include "cli/verbs.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace pinfold {
namespace {

/// The timeout for a job whose turn comes when the time is up: it suffices to learn that the job is already over.
constexpr std::uint64_t kLeastTime = 100'000;

/// These verbs print a page of text for each job.
constexpr std::string_view kPages[] = {"status", "show", "ps", "why", "limits"};

ExitStatus doForOne(CommandLine& line) {
    if (auto named = nameJobByKey(line); !named)
        return fail(named.error());
    return findVerb(line.verb)(VerbContext(line));
}

class ManyJobs {
public:
    explicit ManyJobs(CommandLine line)
        : line_(std::move(line)), pages_(!line_.json && std::ranges::find(kPages, line_.verb) != std::end(kPages)) {
        line_.terminal.pager = false; // otherwise each job would open a pager of its own
    }

    /// Returns the keys of the jobs for which the verb succeeded.
    std::vector<std::string> doFor(const std::vector<std::string>& jobs) {
        std::vector<std::string> done;
        const Countdown countdown(line_.timeout);
        for (const auto& job : jobs) {
            line_.job = job;
            if (line_.timeout)
                line_.timeout = std::max(countdown.left(), kLeastTime);
            if (pages_ && printed_)
                std::puts("");
            nameErrorsAfter(job);
            const auto status = doForOne(line_);
            printed_ |= status == ExitStatus::Ok || status == ExitStatus::NotRunning;
            if (status == ExitStatus::Ok)
                done.push_back(line_.job);
            else if (first_ == ExitStatus::Ok)
                first_ = status;
        }
        return done;
    }

    ExitStatus firstFailure() const { return first_; }

private:
    CommandLine line_;
    bool pages_;
    bool printed_ = false;
    ExitStatus first_ = ExitStatus::Ok;
};

ExitStatus stopAndWait(const CommandLine& line) {
    auto asking = line;
    asking.wait = false;
    ManyJobs stops(asking);
    const auto stopped = stops.doFor(line.jobs);
    auto waiting = line;
    waiting.verb = "wait";
    waiting.json = false;
    waiting.timeout = line.timeout.value_or(CommandLine::kDefaultTimeout);
    ManyJobs waits(waiting);
    waits.doFor(stopped);
    return stops.firstFailure() == ExitStatus::Ok ? waits.firstFailure() : stops.firstFailure();
}

} // namespace

ExitStatus doForEachJob(CommandLine line) {
    if (line.jobs.size() == 1)
        line.job = line.jobs.front();
    if (line.jobs.size() < 2)
        return doForOne(line);
    if (line.verb == "stop" && line.wait && !line.dryRun)
        return stopAndWait(line);
    ManyJobs all(line);
    all.doFor(line.jobs);
    return all.firstFailure();
}

} // namespace pinfold
