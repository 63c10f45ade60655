// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/history/history_keeper.hpp"

#include "base/paths.hpp"
#include "core/report/events.hpp"

#include <utility>

namespace pinfold {
namespace {

// HistoryKeeper waits before its first check, so that the node can set its clock and start its first jobs. If the node's clock
// were wrong, HistoryKeeper would misjudge the age of receipts.
constexpr Microseconds kFirstLook = 10min;
constexpr Microseconds kBetweenLooks = 1h;
constexpr Microseconds kBetweenSteps = 20ms;
constexpr std::size_t kReceiptsPerStep = 100;
constexpr Microseconds kMostForDryRun = 2s; // pinfoldd cannot write receipts while a dry run is in progress

} // namespace

Retention HistoryKeeper::configured() const {
    Retention retention{.maxAge = context_.config.history.maxAge, .maxBytes = context_.config.history.maxSize};
    if (const auto& archive = context_.config.archive; archive.enabled())
        retention.unsent = KeepUnsent{inRoot(context_.root, kSentFile), archive.maxUnsent};
    retention.owners = context_.owners();
    return retention;
}

void HistoryKeeper::start() { lookAfter(kFirstLook); }

void HistoryKeeper::lookAfter(Microseconds delay) {
    look_ = context_.loop.after(delay, [this] {
        lookAfter(kBetweenLooks);
        if (run_)
            return;
        auto retention = configured();
        retention.clock = ClockReading{context_.bootId, context_.loop.bootTime()};
        begin({.retention = retention, .by = {}, .reply = {}});
    });
}

void HistoryKeeper::vacuum(const Caller& caller, const VacuumRequest& asked, Reply<Vacuumed> reply) {
    if (auto allowed = decide(caller, Action::VacuumHistory, {}); !allowed)
        return reply(allowed.error());
    if (run_)
        return reply(Error{ErrorCode::Busy, "another request removes receipts already: try again later"});
    auto retention = configured();
    if (asked.retention.maxAge)
        retention.maxAge = asked.retention.maxAge;
    if (asked.retention.maxBytes)
        retention.maxBytes = asked.retention.maxBytes;
    if (asked.dryRun)
        return context_.history.tryVacuum(retention, context_.loop.realTime(), kReceiptsPerStep, kMostForDryRun,
                                          std::move(reply));
    begin({.retention = retention, .by = caller.uid, .reply = std::move(reply)});
}

void HistoryKeeper::begin(Run run) {
    run_ = std::move(run);
    step();
}

void HistoryKeeper::step() {
    context_.history.vacuum(run_->retention, context_.loop.realTime(), kReceiptsPerStep,
                            [this](const Result<Vacuumed>& done) { stepped(done); });
}

void HistoryKeeper::stepped(const Result<Vacuumed>& done) {
    if (!done)
        return end(done.error());
    run_->removed += done->removed;
    run_->unsent += done->unsent;
    if (done->clockDoubted && !std::exchange(clockDoubted_, true))
        logClockDoubted(context_);
    else if (run_->retention.clock && !done->clockDoubted)
        clockDoubted_ = false;
    if (!done->more)
        return end(Vacuumed{.removed = run_->removed, .unsent = run_->unsent, .more = false, .bytes = done->bytes});
    step_ = context_.loop.after(kBetweenSteps, [this] { step(); });
}

void HistoryKeeper::end(Result<Vacuumed> outcome) {
    step_.reset();
    const auto run = *std::exchange(run_, std::nullopt);
    if (!outcome)
        logVacuumFailed(context_, {.removed = run.removed, .unsent = run.unsent}, outcome.error().message);
    else if (run.removed > 0)
        logHistoryVacuumed(context_, *outcome, run.by);
    if (run.reply)
        run.reply(std::move(outcome));
}

} // namespace pinfold
