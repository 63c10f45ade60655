// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/json.hpp"
#include "cli/live_jobs.hpp"
#include "cli/stray_options.hpp"
#include "cli/strays_files.hpp"
#include "cli/textfile.hpp"
#include "cli/verbs.hpp"
#include "strays/report.hpp"

#include <fmt/core.h>

#include <unistd.h>

#include <cstdio>
#include <optional>
#include <unordered_map>

namespace pinfold {
namespace {

Result<std::vector<LiveJob>> liveJobs() {
    const auto client = ManagerClient::connect();
    if (!client)
        return client.error();
    return askLiveJobs(*client);
}

/// Runs `pinfold strays` once. The user gets a report on all strays and on the actions against the strays. If journals() returns
/// true, the class Run writes the report to the journal, too.
class Run {
public:
    Run(const VerbContext& context, const StraysOptions& options, const StrayScanner& scanner)
        : context_(context), options_(options), scanner_(scanner), mode_(scanner.config().mode) {
        run_.mode = toString(mode_);
        run_.dryRun = options.dryRun;
    }

    ExitStatus go() {
        const bool acts = mode_ != StraysMode::Report;
        auto findings = scanner_.look(acts && !run_.dryRun ? Pidfds::Keep : Pidfds::Close);
        for (const auto& stray : findings.strays) {
            rows_[stray.process.info.pid] = run_.rows.size();
            run_.rows.push_back(rowOf(stray));
        }
        run_.reasons = findings.unseen;
        run_.reasons.insert(run_.reasons.end(), findings.doubts.begin(), findings.doubts.end());
        run_.unread = findings.unread;
        // With --metrics, `pinfold strays` writes new figures only if every stray is certainly outside of all jobs. If a stray is
        // possibly a process of a job, `pinfold strays` does not change the figures in the file of metrics.
        const auto counted =
            options_.metrics && findings.areSure() ? writeTextfile(kStraysTextfile, strayMetrics(run_.rows)) : Result<void>();
        const auto status = acts ? act(std::move(findings)) : report(findings);
        return counted ? status : fail(counted.error());
    }

private:
    ExitStatus report(const Findings& findings) {
        list();
        if (journals())
            for (const auto& stray : findings.strays)
                journal_.event(strayEvent(stray, {}));
        sayReasons();
        // The list of strays is complete even if pinfoldd does not run. Without pinfoldd, `pinfold strays` does not know which
        // users have a job.
        const bool filterFailed = scanner_.config().withoutJob && !findings.jobsKnown;
        return findings.unseen.empty() && !filterFailed ? ExitStatus::Ok : ExitStatus::Failed;
    }

    ExitStatus act(Findings findings) {
        if (!findings.areSure())
            return refuse();
        run_.acted = !run_.dryRun;
        Result<void> done;
        if (run_.dryRun)
            for (const auto& stray : findings.strays)
                tell(stray, plannedAction(stray, mode_));
        else
            done = sweep(scanner_, std::move(findings.strays), mode_,
                         [this](const Stray& stray, const StrayAction& action) { tell(stray, action); });
        if (!done) {
            run_.reasons.push_back(done.error().message);
            journal_.event(straysRefusedEvent(run_.reasons));
        }
        if (context_.json)
            context_.terminal.print(jsonStrays(run_));
        sayReasons();
        return done && !failed_ ? ExitStatus::Ok : ExitStatus::Failed;
    }

    ExitStatus refuse() {
        list();
        if (!run_.dryRun)
            journal_.event(straysRefusedEvent(run_.reasons));
        sayReasons();
        std::fprintf(stderr, "pinfold: nothing is done to these processes, because one of them may belong to a job\n");
        return ExitStatus::Failed;
    }

    void tell(const Stray& stray, const StrayAction& action) {
        addAction(run_.rows[rows_[stray.process.info.pid]], action);
        failed_ = failed_ || action.kind == StrayAction::Kind::Failure;
        if (!context_.json)
            std::fputs(actionLine(stray, action, run_.dryRun).c_str(), stdout);
        if (journals())
            journal_.event(strayEvent(stray, action));
    }

    void list() const {
        context_.terminal.print(context_.json ? jsonStrays(run_)
                                              : strayTable(run_.rows, context_.amounts, context_.tableStyle()));
    }

    void sayReasons() const {
        for (const auto& reason : run_.reasons)
            std::fprintf(stderr, "pinfold: %s\n", reason.c_str());
        for (const auto& unread : run_.unread)
            std::fprintf(stderr, "pinfold: cannot read a command line: %s\n", unread.c_str());
    }

    /// Returns true if this run of `pinfold strays` writes to the journal. A run that only lists strays for the caller writes
    /// nothing to the journal.
    bool journals() const { return !options_.mode || run_.acted; }

    const VerbContext& context_;
    const StraysOptions& options_;
    const StrayScanner& scanner_;
    StraysMode mode_;
    SdJournal journal_{"pinfold-strays"};
    StrayRun run_;
    std::unordered_map<pid_t, std::size_t> rows_; ///< the position of each stray in the list of rows, by process id
    bool failed_ = false;
};

ExitStatus strays(const VerbContext& context, const StraysOptions& options) {
    if (options.files)
        return straysFiles(context, options);
    auto policy = policyFor(options);
    if (!policy)
        return fail(policy.error());
    if (policy->config.mode != StraysMode::Report && ::geteuid() != 0)
        return fail({ErrorCode::Denied, fmt::format("--mode={} is for root only: without --mode, pinfold lists all strays",
                                                    toString(policy->config.mode))});
    const StrayScanner scanner("/", liveJobs, std::move(*policy));
    return Run(context, options, scanner).go();
}

} // namespace

Verb straysVerb() {
    return makeVerb<StraysOptions>("strays", "list users' processes that belong to no job", straysOptions, strays);
}

} // namespace pinfold
