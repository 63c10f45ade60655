// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes the SQL statements that read receipts from the archive. All values that come from a caller are parameters of the
// statements, and never part of their text.
#pragma once

#include "store/history.hpp"

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

struct SqlQuery {
    std::string sql;
    std::vector<std::optional<std::string>> parameters; ///< the values of $1, $2 and so on

    bool operator==(const SqlQuery&) const = default;
};

/// Names one run of a job. All members are texts of the server.
struct RunOfJob {
    std::string cluster;
    std::string key;
    std::string run;   ///< how often the batch system had requeued the job before this run
    std::string uid;   ///< the owner
    std::string since; ///< the earliest end of the run on any host
};

/// Names a receipt in the list that begins with the newest receipt. All members are texts of the server.
struct ReceiptPlace {
    std::string ended;
    std::string node;
    std::string id;
};

/// Says which receipts a caller wants and may see.
struct ReceiptSelection {
    ReceiptFilter filter;
    /// If `visibleTo` is set, the selection has only receipts of this user, no matter what `filter` says.
    std::optional<uid_t> visibleTo = {};
    std::optional<RunOfJob> run = {}; ///< only receipts of this run
};

/// A page has at most `rows` receipts, and at most `bytes` bytes apart from its last receipt. It has at least one receipt if
/// there is one.
struct PageSize {
    std::uint32_t rows;
    std::size_t bytes;
};

/// Selects the next receipts after the place `after`, or the first receipts, in the order newest first. The columns are `ended`,
/// `node` and `id`, which are the place, and `body`.
SqlQuery pageQuery(const ReceiptSelection& selection, const std::optional<ReceiptPlace>& after, PageSize size);

/// Returns a time as PostgreSQL reads it. A time after the year 9999 becomes the end of that year.
std::string timestamp(RealTime time);

/// Selects the newest run of a job that the user `visibleTo` may see; everybody may see it if `visibleTo` is unset. The result
/// has no row or one row with the columns `cluster`, `run`, `uid` and `since`.
SqlQuery newestRunQuery(const std::string& key, std::optional<uid_t> visibleTo);

/// Returns true if pinfoldd itself gave the job its key. The pinfoldd of another node gives the same key to another job, so the
/// receipts of several nodes with this key do not belong together.
bool isKeyOfOneNode(const std::string& key);

} // namespace pinfold
