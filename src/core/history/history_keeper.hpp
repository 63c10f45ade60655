// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "core/access/authorizer.hpp"
#include "core/context.hpp"
#include "core/requests.hpp"

namespace pinfold {

/// Removes old receipts from the history, so that the history stays within the limits of [history] in the configuration. If the
/// site has an archive, HistoryKeeper does not remove receipts that the archive lacks. If the history exceeds archive.max_unsent,
/// HistoryKeeper removes even receipts that the archive lacks. HistoryKeeper checks the history once an hour, and on request.
/// HistoryKeeper removes only a few receipts in one step (about 10 ms of work). Between two steps of HistoryKeeper, pinfoldd can
/// write the receipts of jobs that have ended.
class HistoryKeeper {
public:
    explicit HistoryKeeper(CoreContext& context) : context_(context) {}

    /// Makes HistoryKeeper check the history once an hour.
    void start();

    /// Removes receipts now. If a limit is unset in the request, the limit of the configuration applies. vacuum() sends the
    /// answer as soon as the history is within the limits. vacuum() fails with Denied, Internal or Busy. The error is Busy if
    /// HistoryKeeper is removing receipts already. During a dry run, pinfoldd cannot write receipts, so pinfoldd cancels a dry
    /// run that takes too long (TimedOut).
    void vacuum(const Caller& caller, const VacuumRequest& asked, Reply<Vacuumed> reply);

private:
    struct Run {
        Retention retention;
        std::optional<uid_t> by;
        Reply<Vacuumed> reply; ///< the reply to the caller who requested the run; empty if the hourly timer began the run
        std::uint64_t removed = 0;
        std::uint64_t unsent = 0; ///< how many of the removed receipts were not in the archive
    };

    Retention configured() const;
    void lookAfter(Microseconds delay);
    void begin(Run run);
    void step();
    void stepped(const Result<Vacuumed>& done);
    void end(Result<Vacuumed> outcome);

    CoreContext& context_;
    std::optional<Run> run_; ///< the removal of receipts that is in progress
    bool clockDoubted_ = false;
    EventHandle look_;
    EventHandle step_;
};

} // namespace pinfold
