// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/history/past_jobs.hpp"

#include "core/report/events.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace pinfold {
namespace {

constexpr Microseconds kLateReport = 1h; // pinfoldd accepts reports that come at most kLateReport after the end of the job

} // namespace

void PastJobs::newestReceipt(const Caller& caller, Action action, const std::string& key, Reply<Receipt> reply) const {
    const auto answer = [caller, action, key, reply = std::move(reply)](Result<std::vector<Receipt>> found) {
        // After the error Busy, an epilogue repeats its request. When somebody has repaired the disk of the history, the
        // epilogue's next request gets the receipt.
        if (!found)
            return reply(Error{ErrorCode::Busy, "the history cannot be read for now, try again: " + found.error().message});
        if (found->empty())
            return reply(possible(action, Phase::NoJob, key).error());
        auto target = targetOf(key, nullptr);
        target.phase = Phase::Over;
        target.owner = found->front().uid;
        if (auto allowed = decide(caller, action, target); !allowed)
            return reply(allowed.error());
        reply(std::move(found->front()));
    };
    // Two users can have jobs with the same key, one job after the other. A caller without the right to see the jobs of all users
    // gets only receipts of the caller's own jobs.
    const auto owner = isForAllJobs(caller, action) ? std::nullopt : std::optional(caller.uid);
    if (auto receipt = historyWriter_.newest(key, owner))
        return answer(std::vector{*std::move(receipt)});
    core_.context.history.list({.key = key, .uid = owner, .limit = 1}, answer);
}

void PastJobs::receipts(const Caller& caller, ReceiptFilter filter, Reply<std::vector<Receipt>> reply) const {
    const bool all = caller.admin || caller.auditor;
    if (!all && filter.uid.value_or(caller.uid) != caller.uid)
        return reply(Error{ErrorCode::Denied, "only root and the members of pinfold-admin and pinfold-audit may see the receipts "
                                              "of other users"});
    if (!all)
        filter.uid = caller.uid;
    core_.context.history.list(std::move(filter), std::move(reply));
}

void PastJobs::profile(const Caller& caller, const std::string& key, Reply<Profile> reply) const {
    const auto decoded = [reply](const Result<std::string>& bytes) {
        if (!bytes)
            return reply(bytes.error());
        reply(bytes->empty() ? Result<Profile>(Profile()) : decodeProfile(*bytes));
    };
    newestReceipt(caller, Action::GetProfile, key, [this, reply, decoded](const Result<Receipt>& receipt) {
        if (!receipt)
            return reply(receipt.error());
        if (!receipt->profile.empty()) // the receipt was written only a moment ago
            return decoded(receipt->profile);
        core_.context.history.profile(receipt->id, decoded);
    });
}

void PastJobs::reportLate(const Caller& caller, const Receipt& receipt, const EndReport& report, const Reply<Receipt>& reply) {
    auto amended = receipt;
    if (!caller.admin || receipt.ended + kLateReport < core_.context.loop.realTime() ||
        !amend(amended, report.exit, report.identity))
        return reply(receipt);
    historyWriter_.amend({receipt.id, report.exit, report.identity}, [this, amended, reply] {
        logReceiptAmended(core_.context, amended);
        core_.observer->receiptAmended(amended);
        reply(amended);
    });
}

} // namespace pinfold
