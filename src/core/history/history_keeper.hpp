// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/access/authorizer.hpp"
#include "core/context.hpp"
#include "core/requests.hpp"

namespace pinfold {

/// Keeps the history within the limits of [history] in the configuration, by itself once an hour, and on request. It removes a
/// few receipts at a time (some 10 ms of work), so that receipts of jobs that end can be written in between.
class HistoryKeeper {
public:
    explicit HistoryKeeper(CoreContext& context) : context_(context) {}

    /// From now on it looks by itself once an hour.
    void start();

    /// Removes receipts now. The configuration gives the limits that `asked` leaves unset. Answers when the history is within the
    /// limits. Errors: Denied; Busy while receipts are being removed already; Internal.
    void vacuum(const Caller& caller, const Retention& asked, Reply<Vacuumed> reply);

private:
    struct Run {
        Retention retention;
        std::optional<uid_t> by;
        Reply<Vacuumed> reply; ///< empty when nobody asked
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
    std::optional<Run> run_; ///< what is under way
    bool clockDoubted_ = false;
    EventHandle look_;
    EventHandle step_;
};

} // namespace pinfold
