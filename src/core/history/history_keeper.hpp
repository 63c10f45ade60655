// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/access/authorizer.hpp"
#include "core/context.hpp"
#include "core/requests.hpp"

namespace pinfold {

/// Keeps the history within the limits of [history] in the configuration: once an hour by itself, and on request. HistoryKeeper
/// removes a few receipts at a time (some 10 ms of work), so that pinfoldd can write receipts of ending jobs in between.
class HistoryKeeper {
public:
    explicit HistoryKeeper(CoreContext& context) : context_(context) {}

    /// After start(), HistoryKeeper checks the history once an hour by itself.
    void start();

    /// Removes receipts now. Where `asked` leaves a limit unset, the limit of the configuration holds. vacuum() answers when the
    /// history is within the limits. Errors: Denied; Busy if a removal is under way already; Internal.
    void vacuum(const Caller& caller, const Retention& asked, Reply<Vacuumed> reply);

private:
    struct Run {
        Retention retention;
        std::optional<uid_t> by;
        Reply<Vacuumed> reply; ///< empty if nobody asked for this run
        std::uint64_t removed = 0;
    };

    Retention configured() const {
        return {.maxAge = context_.config.history.maxAge, .maxBytes = context_.config.history.maxSize};
    }
    void lookAfter(std::uint64_t delay);
    void begin(Run run);
    void step();
    void stepped(const Result<Vacuumed>& done);
    void end(Result<Vacuumed> outcome);

    CoreContext& context_;
    std::optional<Run> run_; ///< the removal that is under way
    bool clockDoubted_ = false;
    EventHandle look_;
    EventHandle step_;
};

} // namespace pinfold
