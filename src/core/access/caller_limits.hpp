// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/per_user_limit.hpp"
#include "base/result.hpp"
#include "core/access/authorizer.hpp"
#include "core/access/call_rate.hpp"

#include <fmt/core.h>

#include <sys/types.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace pinfold {

/// Limits how much each user may ask for at once. Calls through the bus and through the wrapper's socket are counted together.
/// Admins have no limits.
class CallerLimits {
public:
    /// At most this many calls of one user may wait. A user may well have 10,000 jobs, each with a supervisor that waits.
    static constexpr std::size_t kMostWaits = 16384;
    static constexpr std::size_t kMostQueries = 8;
    /// At most this many calls of all ordinary users together may wait. The limit on queries leaves some places for admins
    /// (Lane::HistoryRead).
    static constexpr std::size_t kMostWaitsOfAll = 65536;
    static constexpr std::size_t kMostQueriesOfAll = 48;

    explicit CallerLimits(std::function<uid_t(uid_t)> countsAs = [](uid_t uid) { return uid; })
        : countsAs_(std::move(countsAs)) {}

    /// Sets which users are admins from now on. Root always is one.
    void setAdmins(std::set<uid_t> admins) { admins_ = std::move(admins); }
    Caller caller(uid_t uid) const { return {uid, uid == 0 || admins_.contains(uid), countsAs_(uid)}; }

    /// Counts a call that waits for a job's end. The call holds the result until pinfoldd answers the call: even when the sender
    /// has gone, the call costs memory until then. Error: Busy.
    Result<std::shared_ptr<void>> enterWait(const Caller& caller) {
        if (caller.admin)
            return std::shared_ptr<void>();
        if (auto wait = waits_.enter(caller.countsAs))
            return wait;
        return Error{
            ErrorCode::Busy,
            fmt::format(
                "too many calls of user {} (or of all ordinary users together) wait for jobs to end: wait for answers first",
                caller.uid)};
    }

    /// Counts a query of the history. The query holds the result until pinfoldd answers the query, since all queries share few
    /// threads. Error: Busy.
    Result<std::shared_ptr<void>> enterQuery(const Caller& caller) {
        if (caller.admin)
            return std::shared_ptr<void>();
        if (auto query = queries_.enter(caller.countsAs))
            return query;
        return Error{
            ErrorCode::Busy,
            fmt::format("too many calls of user {} (or of all ordinary users together) ask for receipts: wait for answers first",
                        caller.uid)};
    }

    CallRate rate;

private:
    std::function<uid_t(uid_t)> countsAs_;
    std::set<uid_t> admins_;
    PerUserLimit waits_{kMostWaits, kMostWaitsOfAll};
    PerUserLimit queries_{kMostQueries, kMostQueriesOfAll};
};

} // namespace pinfold
