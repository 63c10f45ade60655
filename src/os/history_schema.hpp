// SPDX-License-Identifier: LGPL-2.1-or-later
// The tables and indexes of history.db, and how an older file gets them.
//
// What a filter can ask about a receipt besides key, user and time has few values. Each combination that occurs is a row of
// `kinds`: scheduler, result, outcome (the number of a JobOutcome) and leftovers (1: there are some). A receipt has its kind's
// number, and per kind the indexes are in the order of `ended`: whatever is asked, the newest receipts of the kinds that match
// are found by a few descents and a merge, however few they are.
//
// `live` has a row for each job that runs: what its receipt is to be if the node goes down with it.
#pragma once

#include "os/sqlite.hpp"

#include <filesystem>
#include <functional>

namespace pinfold {

constexpr std::uint64_t kHistorySchema = 4;

/// SQL for the number of outcomeOf() the column `receipt`.
constexpr const char* kOutcomeOfReceipt = "CASE WHEN json_extract(receipt, '$.result') IS NOT 'exited' THEN 0"
                                          " WHEN json_extract(receipt, '$.exit_status') IS NULL THEN 2"
                                          " ELSE json_extract(receipt, '$.exit_status') IS 0 END";

struct HistoryDatabase {
    sqlite::Database db;
    /// Below the newest only of a file opened for reading: 1 has no kinds, 2 has no table `live`, 3 knows no JobOutcome::Unknown.
    std::uint64_t schema = 0;
    bool immutable = false; ///< what is written from now on is not seen
};

/// For reading and writing, created when it is not there, brought to the newest schema. `beforeMigration`, if any, is called
/// before that when each receipt has to be read for it. Errors: Damaged, or Internal, with sqlite's words and the path.
Result<HistoryDatabase> openHistoryFile(const std::filesystem::path& file, const std::function<void()>& beforeMigration);
/// As it is; nothing is created or changed. Errors: Damaged, or Internal, with sqlite's words and the path.
Result<HistoryDatabase> openHistoryFileReadOnly(const std::filesystem::path& file);

} // namespace pinfold
