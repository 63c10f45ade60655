// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes the SQL statements that read receipts from the archive. All values that come from a caller are parameters of the
// statements, and never part of the text of a statement.
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
    std::vector<std::optional<std::string>> parameters; ///< the values of the parameters $1, $2 and so on in `sql`

    bool operator==(const SqlQuery&) const = default;
};

/// Identifies one run of a job. All members of RunOfJob are texts that the database server has returned.
struct RunOfJob {
    std::string cluster;
    std::string key;
    std::string run;   ///< how often the batch system had requeued the job before this run
    std::string uid;   ///< the owner
    std::string since; ///< the earliest end of the run on any host
};

/// Says where a receipt stands in a list of receipts. The list begins with the newest receipt. All members of ReceiptPlace are
/// texts that the database server has returned.
struct ReceiptPlace {
    std::string ended;
    std::string node;
    std::string id;
};

/// Says which receipts a caller asks for, and which receipts the caller is allowed to see.
struct ReceiptSelection {
    ReceiptFilter filter;
    /// If `visibleTo` is set, the selection has only receipts of the user `visibleTo`, no matter what `filter` says.
    std::optional<uid_t> visibleTo = {};
    std::optional<RunOfJob> run = {}; ///< if set, the selection has only receipts of the run `run`
};

/// A page has at most `rows` receipts. A page is full as soon as its receipts together have at least `bytes` bytes. Only the last
/// receipt of a page can make the page larger than `bytes` bytes. A page is empty only if no receipt is left.
struct PageSize {
    std::uint32_t rows;
    std::size_t bytes;
};

/// Selects the receipts that follow the place `after`, or the first receipts if `after` is unset. The newest receipt comes first.
/// The columns `ended`, `node` and `id` are the ReceiptPlace of the receipt, and the column `body` is the receipt as JSON.
SqlQuery pageQuery(const ReceiptSelection& selection, const std::optional<ReceiptPlace>& after, PageSize size);

/// Formats a time as text that PostgreSQL can read. A time after the year 9999 becomes the end of the year 9999.
std::string timestamp(RealTime time);

/// Selects the newest run of a job. If `visibleTo` is set, newestRunQuery() ignores the runs of all users except `visibleTo`. The
/// result has no row or one row, with the columns `cluster`, `run`, `uid` and `since`.
SqlQuery newestRunQuery(const std::string& key, std::optional<uid_t> visibleTo);

/// Returns true if pinfoldd itself gave the job its key. Each pinfoldd chooses keys by itself, so two nodes can give the same key
/// to different jobs.
bool isKeyOfOneNode(const std::string& key);

} // namespace pinfold
