// SPDX-License-Identifier: LGPL-2.1-or-later
// The tables and indexes of history.db, and how an older file gets them.
//
// Besides key, user and time a filter can ask about properties of a receipt that have few values. Each combination of these that
// occurs is a row of `kinds`: scheduler, result, outcome (the number of a JobOutcome) and leftovers (1: there are some). A
// receipt has the number of its kind, and for each kind the indexes are in the order of `ended`. So for each filter a few
// descents and a merge find the newest receipts of the kinds that match, however few they are.
//
// `live` has a row for each job that runs, with the receipt that the job gets if the node goes down now.
#pragma once

#include "store/sqlite.hpp"

#include <filesystem>
#include <functional>

namespace pinfold {

constexpr std::uint64_t kHistorySchema = 4;

/// SQL expression for the number of outcomeOf() of the receipt in the column `receipt`.
constexpr const char* kOutcomeOfReceipt = "CASE WHEN json_extract(receipt, '$.result') IS NOT 'exited' THEN 0"
                                          " WHEN json_extract(receipt, '$.exit_status') IS NULL THEN 2"
                                          " ELSE json_extract(receipt, '$.exit_status') IS 0 END";

struct HistoryDatabase {
    sqlite::Database db;
    /// The file's schema. Only a file that was opened for reading may have an older one: 1 has no kinds, 2 has no table `live`, 3
    /// has no JobOutcome::Unknown.
    std::uint64_t schema = 0;
    bool immutable = false; ///< this connection does not see what is written from now on
};

/// Opens the file for reading and writing, creates it if it does not exist, and brings it to the newest schema. If each receipt
/// has to be read for that, `beforeMigration`, if set, is called first. Errors: Damaged, or Internal, with sqlite's words and the
/// path.
Result<HistoryDatabase> openHistoryFile(const std::filesystem::path& file, const std::function<void()>& beforeMigration);
/// Opens the file as it is. Creates and changes nothing. Errors: Damaged, or Internal, with sqlite's words and the path.
Result<HistoryDatabase> openHistoryFileReadOnly(const std::filesystem::path& file);

} // namespace pinfold
