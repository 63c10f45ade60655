// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/strays_files.hpp"

#include "base/parse.hpp"
#include "base/paths.hpp"
#include "cli/json.hpp"
#include "cli/leftover_table.hpp"
#include "cli/live_jobs.hpp"
#include "cli/stray_options.hpp"
#include "store/record_store.hpp"
#include "strays/job_knowledge.hpp"
#include "strays/leftover_search.hpp"
#include "strays/policy.hpp"

#include <fmt/core.h>

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <map>

namespace pinfold {
namespace {

// Each answer contains at most kPage receipts, so that pinfoldd can serve other callers between two answers.
constexpr std::uint32_t kPage = 1000;
constexpr std::size_t kMostReceipts = 200'000;

/// Asks pinfoldd for jobs and receipts. If pinfoldd does not answer, JobSources reads the receipts from the history's file. The
/// receipts in the file are enough to list at least some of the leftover files.
class JobSources {
public:
    Result<std::set<uid_t>> usersWithLiveJobs() {
        const auto list = [this] { return ask<std::vector<LiveJob>>(askLiveJobs); };
        if (::geteuid() == 0) {
            const auto known = learnJobs(list, RecordStore(kRecordsDirectory), CgroupTree());
            return known.problems.empty() ? Result<std::set<uid_t>>(known.users)
                                          : Error{ErrorCode::Internal, known.problems.front()};
        }
        const auto jobs = list();
        if (!jobs)
            return jobs.error();
        std::set<uid_t> users;
        for (const auto& job : *jobs)
            users.insert(job.uid);
        return users;
    }

    Result<std::vector<EndedJob>> endedJobs(uid_t uid, RealTime since) {
        std::vector<EndedJob> jobs;
        ReceiptFilter filter{.uid = uid, .since = since, .limit = kPage};
        while (true) {
            const auto page = receipts(filter);
            if (!page)
                return page.error();
            for (const auto& receipt : *page)
                jobs.push_back({receipt.started, receipt.ended, receipt.key});
            if (page->size() < kPage)
                return jobs;
            if (jobs.size() >= kMostReceipts)
                return Error{ErrorCode::Internal,
                             fmt::format("{} has more than {} receipts since {}: too many to find out which job left which files",
                                         userName(uid), kMostReceipts, formatLocal(since))};
            // Perhaps the last job of this page and another job ended in the same microsecond. The next page begins with the
            // microsecond in which the last job of this page ended. If all jobs of this page ended in the same microsecond, the
            // next page begins with the preceding microsecond.
            filter.until = page->back().ended + (page->front().ended == page->back().ended ? 0us : 1us);
        }
    }

private:
    template <class T, class F> Result<T> ask(F&& call) {
        if (failed_)
            return *failed_;
        if (!client_) {
            auto client = ManagerClient::connect();
            if (!client)
                return failed(client.error());
            client_.emplace(std::move(*client));
        }
        auto answer = call(*client_);
        return answer ? std::move(answer) : Result<T>(failed(answer.error()));
    }

    /// Remembers that a call to pinfoldd has failed. After a failed call, JobSources does not call pinfoldd again, because each
    /// attempt could take half a minute.
    Error failed(const Error& error) {
        failed_ = Error{error.code, "pinfoldd does not say which jobs are live: " + error.message};
        return *failed_;
    }

    Result<std::vector<Receipt>> receipts(const ReceiptFilter& filter) {
        auto found = ask<std::vector<Receipt>>([&](const ManagerClient& client) { return client.receipts(filter); });
        if (found)
            return found;
        const auto history = History::open(kHistoryFile, History::Mode::ReadOnly);
        return history ? history->list(filter) : found;
    }

    std::optional<ManagerClient> client_;
    std::optional<Error> failed_;
};

LeftoverAction actionOf(const StraysOptions& options, LeftoverFilesPolicy policy) {
    const bool configured = !options.mode;
    const bool remove = options.remove || (configured && policy == LeftoverFilesPolicy::Remove);
    return !remove ? LeftoverAction::List : options.dryRun ? LeftoverAction::DryRun : LeftoverAction::Remove;
}

/// Asks the user database whether the user is in one of the groups. The attributes of a file do not show in which groups the
/// owner of the file is.
bool isInOneOf(const std::set<gid_t>& groups, uid_t uid) {
    const auto* user = groups.empty() ? nullptr : ::getpwuid(uid);
    if (!user)
        return false;
    std::vector<gid_t> all(65536); // the kernel's NGROUPS_MAX
    int count = static_cast<int>(all.size());
    if (::getgrouplist(user->pw_name, user->pw_gid, all.data(), &count) < 0)
        return true;
    return std::any_of(all.begin(), all.begin() + count, [&](gid_t group) { return groups.contains(group); });
}

bool isCandidate(uid_t uid, const StrayPolicy& policy) {
    return isOrdinaryUser(uid, policy.config) && (policy.config.users.empty() || policy.users.contains(uid)) &&
           !policy.exemptUsers.contains(uid) && !isInOneOf(policy.exemptGroups, uid);
}

} // namespace

ExitStatus straysFiles(const VerbContext& context, const StraysOptions& options) {
    if (options.mode && *options.mode != StraysMode::Report)
        return fail({ErrorCode::InvalidArgument,
                     fmt::format("--mode={} acts on processes only: use --files with --remove, or with --mode=configured",
                                 toString(*options.mode))});
    // If the policy exempts a user's processes, the policy exempts the user's files, too.
    const auto policy = policyFor(options);
    if (!policy)
        return fail(policy.error());
    const auto& files = policy->config.files;
    const auto action = actionOf(options, files.policy);
    const auto self = ::geteuid();
    if (action == LeftoverAction::Remove && self != 0)
        return fail({ErrorCode::Denied, "only root may remove what jobs left behind"});

    JobSources pinfoldd;
    const LeftoverSources sources{[&] { return pinfoldd.usersWithLiveJobs(); },
                                  [&](uid_t uid, RealTime since) { return pinfoldd.endedJobs(uid, since); }};
    // Some users have very many files in /tmp. `candidates` keeps the result of isCandidate() for each user, because
    // isCandidate() sometimes asks a slow user database.
    std::map<uid_t, bool> candidates;
    const auto isMine = [&](uid_t uid) {
        const auto [known, isNew] = candidates.try_emplace(uid);
        if (isNew)
            known->second = (self == 0 || uid == self) && isCandidate(uid, *policy);
        return known->second;
    };
    const LeftoverRules rules{.ordinary = isMine,
                              .directories = {files.directories.begin(), files.directories.end()},
                              .minAge = files.minAge,
                              .root = self == 0,
                              .subordinates = policy->subordinates,
                              .doubts = policy->problems};
    SdJournal journal("pinfold-strays");
    const auto listing = searchLeftovers(rules, sources, action == LeftoverAction::Remove ? &journal : nullptr);
    context.terminal.print(context.json ? jsonLeftoverFiles(listing)
                                        : leftoverTable(listing, action, context.amounts, context.tableStyle()));
    for (const auto& gap : listing.gaps)
        std::fprintf(stderr, "pinfold: no file%s is removed, because pinfold could not find out all it needs to know: %s\n",
                     gap.user ? (" of " + userName(*gap.user)).c_str() : "", gap.what.c_str());
    bool failed = false;
    for (const auto& leftover : listing.files) {
        if (leftover.error)
            std::fprintf(stderr, "pinfold: %s: %s\n", nameOf(leftover.file).c_str(), leftover.error->c_str());
        failed = failed || leftover.failed();
    }
    return listing.gaps.empty() && !failed ? ExitStatus::Ok : ExitStatus::Failed;
}

} // namespace pinfold
