// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/json.hpp"
#include "cli/live_jobs.hpp"
#include "cli/stray_options.hpp"
#include "cli/strays_files.hpp"
#include "cli/verbs.hpp"
#include "config/config.hpp"
#include "strays/report.hpp"

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

Result<StrayPolicy> policyFor(const StraysOptions& options) {
    const auto loaded = loadConfig(ConfigPaths{});
    if (!loaded)
        return loaded.error();
    auto config = loaded->config.strays;
    if (options.mode)
        config.mode = *options.mode;
    for (const auto& set : options.settings)
        set(config);
    if (config.minUid > config.maxUid)
        return Error{ErrorCode::InvalidArgument,
                     "--min-uid is above --max-uid, so no user would be checked: lower --min-uid or raise --max-uid"};
    auto policy = resolve(std::move(config));
    // A warning may be about a misspelt key, which could be the one that exempts somebody.
    policy.problems.insert(policy.problems.end(), loaded->warnings.begin(), loaded->warnings.end());
    return policy;
}

/// Runs the verb once, and tells the caller and the journal what was found and done.
class Run {
public:
    Run(const VerbContext& context, const Lookout& lookout) : context_(context), lookout_(lookout), mode_(lookout.config().mode) {
        run_.mode = toString(mode_);
        run_.dryRun = context.line.dryRun;
    }

    ExitStatus go() {
        const bool acts = mode_ != StraysMode::Report;
        auto findings = lookout_.look(acts && !run_.dryRun ? Pidfds::Keep : Pidfds::Close);
        for (const auto& stray : findings.strays) {
            rows_[stray.process.info.pid] = run_.rows.size();
            run_.rows.push_back(rowOf(stray));
        }
        run_.reasons = findings.unseen;
        run_.reasons.insert(run_.reasons.end(), findings.doubts.begin(), findings.doubts.end());
        run_.unread = findings.unread;
        return acts ? act(std::move(findings)) : report(findings);
    }

private:
    ExitStatus report(const Findings& findings) {
        list();
        if (journals())
            for (const auto& stray : findings.strays)
                journal_.event(strayEvent(stray, {}));
        sayReasons();
        // Without pinfoldd the list is complete, but we do not know which users have a job.
        const bool filterFailed = lookout_.config().withoutJob && !findings.jobsKnown;
        return findings.unseen.empty() && !filterFailed ? ExitStatus::Ok : ExitStatus::Failed;
    }

    ExitStatus act(Findings findings) {
        if (!findings.areSure())
            return refuse();
        run_.acted = !run_.dryRun;
        Result<void> done;
        if (run_.dryRun)
            for (const auto& stray : findings.strays)
                tell(stray, plannedDeed(stray, mode_));
        else
            done = sweep(lookout_, std::move(findings.strays), mode_,
                         [this](const Stray& stray, const Deed& deed) { tell(stray, deed); });
        if (!done) {
            run_.reasons.push_back(done.error().message);
            journal_.event(straysRefusedEvent(run_.reasons));
        }
        if (context_.line.json)
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

    void tell(const Stray& stray, const Deed& deed) {
        addDeed(run_.rows[rows_[stray.process.info.pid]], deed);
        failed_ = failed_ || deed.kind == Deed::Kind::Failure;
        if (!context_.line.json)
            std::fputs(deedLine(stray, deed, run_.dryRun).c_str(), stdout);
        if (journals())
            journal_.event(strayEvent(stray, deed));
    }

    void list() const {
        context_.terminal.print(context_.line.json ? jsonStrays(run_)
                                                   : strayTable(run_.rows, context_.amounts, context_.tableStyle()));
    }

    void sayReasons() const {
        for (const auto& reason : run_.reasons)
            std::fprintf(stderr, "pinfold: %s\n", reason.c_str());
        for (const auto& unread : run_.unread)
            std::fprintf(stderr, "pinfold: cannot read a command line: %s\n", unread.c_str());
    }

    /// A run in which the caller only looks is not logged.
    bool journals() const { return !context_.line.strays.mode || run_.acted; }

    const VerbContext& context_;
    const Lookout& lookout_;
    StraysMode mode_;
    SdJournal journal_{"pinfold-strays"};
    StrayRun run_;
    std::unordered_map<pid_t, std::size_t> rows_; ///< by pid
    bool failed_ = false;
};

} // namespace

ExitStatus verbStrays(const VerbContext& context) {
    if (context.line.strays.files)
        return straysFiles(context);
    auto policy = policyFor(context.line.strays);
    if (!policy)
        return fail(policy.error());
    if (policy->config.mode != StraysMode::Report && ::geteuid() != 0)
        return fail({ErrorCode::Denied, "--mode=" + std::string(toString(policy->config.mode)) +
                                            " is for root only: without --mode, pinfold lists all strays"});
    const Lookout lookout("/", liveJobs, std::move(*policy));
    return Run(context, lookout).go();
}

} // namespace pinfold
