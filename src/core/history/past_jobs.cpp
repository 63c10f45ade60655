// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/history/past_jobs.hpp"

#include "core/report/events.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace pinfold {
namespace {

constexpr Microseconds kLateReport = 1h; // after a job's end

} // namespace

void PastJobs::newestReceipt(const Caller& caller, Action action, const std::string& key, Reply<Receipt> reply) const {
    const auto answer = [caller, action, key, reply = std::move(reply)](Result<std::vector<Receipt>> found) {
        // The error is Busy, so that an epilogue asks again. If somebody has repaired the full or damaged disk in the meantime,
        // the epilogue then gets its answer.
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
    // Another user may have had a later job with the same key. So for a caller who is not an admin, pinfoldd looks only at the
    // caller's own jobs.
    const auto owner = caller.admin ? std::nullopt : std::optional(caller.uid);
    if (auto receipt = historyWriter_.newest(key, owner))
        return answer(std::vector{*std::move(receipt)});
    core_.context.history.list({.key = key, .uid = owner, .limit = 1}, answer);
}

void PastJobs::reportLate(const Caller& caller, const Receipt& receipt, const ExitState& exit, const Reply<Receipt>& reply) {
    auto amended = receipt;
    if (!caller.admin || receipt.ended + kLateReport < core_.context.loop.realTime() || !amend(amended, exit))
        return reply(receipt);
    historyWriter_.amend(receipt.id, exit, [this, amended, reply] {
        logReceiptAmended(core_.context, amended);
        core_.observer->receiptAmended(amended);
        reply(amended);
    });
}

} // namespace pinfold
