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

/// Limits the number of unanswered calls of each user. Calls through the bus and calls through the wrapper's socket count towards
/// the same limit. Admins have no limits.
class CallerLimits {
public:
    /// kMostWaits is the maximum number of waiting calls of one user. A user can have 10,000 live jobs, and one call can wait for
    /// the end of each of these jobs.
    static constexpr std::size_t kMostWaits = 16384;
    static constexpr std::size_t kMostQueries = 8;
    /// kMostWaitsOfAll is the maximum number of waiting calls of all ordinary users together. kMostQueriesOfAll is lower than the
    /// number of queries that fit into Lane::HistoryRead, so that admins can always send queries.
    static constexpr std::size_t kMostWaitsOfAll = 65536;
    static constexpr std::size_t kMostQueriesOfAll = 48;

    explicit CallerLimits(std::function<uid_t(uid_t)> countsAs = [](uid_t uid) { return uid; })
        : countsAs_(std::move(countsAs)) {}

    /// Replaces the list of admins. Root is always an admin.
    void setAdmins(std::set<uid_t> admins) { admins_ = std::move(admins); }
    /// Replaces the list of the users who are allowed to see the jobs of all users.
    void setAuditors(std::set<uid_t> auditors) { auditors_ = std::move(auditors); }
    Caller caller(uid_t uid) const { return {uid, uid == 0 || admins_.contains(uid), countsAs_(uid), auditors_.contains(uid)}; }

    /// Counts a call that waits for a job's end. Keep the result of enterWait() until pinfoldd has answered the call. Each
    /// waiting call needs memory until pinfoldd answers, even if the sender of the call has ended. Error: Busy.
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

    /// Counts a query with which the caller reads the history. Keep the result of enterQuery() until pinfoldd has answered the
    /// query. The number of queries is limited because all queries share a few threads. Error: Busy.
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
    std::set<uid_t> auditors_;
    PerUserLimit waits_{kMostWaits, kMostWaitsOfAll};
    PerUserLimit queries_{kMostQueries, kMostQueriesOfAll};
};

} // namespace pinfold
