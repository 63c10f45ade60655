// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares the tables and indexes of history.db, and brings an older file to them.
//
// A filter can ask about key, user and time, and also about properties of a receipt that have few values: scheduler, result,
// outcome (the number of a JobOutcome) and leftovers (1: the job left processes behind). Each combination of these values that
// occurs is a kind, and has a row in `kinds`. A receipt has the number of its kind, and for each kind the indexes are in the
// order of `ended`. So for each filter a few searches in an index and a merge find the newest receipts that match, even if few
// receipts match.
//
// The table `live` has a row for each job that runs, with the receipt that the job gets if the node goes down now.
#pragma once

#include "store/sqlite.hpp"

#include <filesystem>
#include <functional>

namespace pinfold {

constexpr std::uint64_t kHistorySchema = 4;

/// Is the SQL expression for the number of outcomeOf() of the receipt in the column `receipt`.
constexpr const char* kOutcomeOfReceipt = "CASE WHEN json_extract(receipt, '$.result') IS NOT 'exited' THEN 0"
                                          " WHEN json_extract(receipt, '$.exit_status') IS NULL THEN 2"
                                          " ELSE json_extract(receipt, '$.exit_status') IS 0 END";

struct HistoryDatabase {
    sqlite::Database db;
    /// The number of the file's schema. Only a file that was opened for reading may have an older schema: schema 1 has no kinds,
    /// schema 2 has no table `live`, and schema 3 has no JobOutcome::Unknown.
    std::uint64_t schema = 0;
    bool immutable = false; ///< the connection does not see what others write after it was opened
};

/// Opens the file for reading and writing, creates it if it does not exist, and brings it to the newest schema. If
/// openHistoryFile() has to read each receipt for that, it first calls `beforeMigration`, if set. Errors: Damaged, or Internal,
/// with sqlite's words and the path.
Result<HistoryDatabase> openHistoryFile(const std::filesystem::path& file, const std::function<void()>& beforeMigration);
/// Opens the file as it is. Creates and changes nothing. Errors: Damaged, or Internal, with sqlite's words and the path.
Result<HistoryDatabase> openHistoryFileReadOnly(const std::filesystem::path& file);

} // namespace pinfold
