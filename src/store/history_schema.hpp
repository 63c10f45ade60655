// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares the tables and indexes of history.db, and migrates an older file to the newest schema.
//
// A filter can contain the key, the user and times. A filter can also contain four properties that have few values: scheduler,
// result, outcome (the number of a JobOutcome) and leftovers (1: the job left processes behind). Each existing combination of
// scheduler, result, outcome and leftovers is a kind, and has a row in the table `kinds`. Each receipt has the number of its
// kind. Within a kind, the indexes are ordered by `ended`. So a few index searches and a merge find the newest receipts that
// match a filter, even if few receipts match.
//
// The table `live` has a row for each running job. The row contains the receipt that the job gets if the node goes down.
#pragma once

#include "store/sqlite.hpp"

#include <filesystem>
#include <functional>

namespace pinfold {

constexpr std::uint64_t kHistorySchema = 4;

/// Contains the SQL expression that calculates outcomeOf(), as a number, for the receipt in the column `receipt`.
constexpr const char* kOutcomeOfReceipt = "CASE WHEN json_extract(receipt, '$.result') IS NOT 'exited' THEN 0"
                                          " WHEN json_extract(receipt, '$.exit_status') IS NULL THEN 2"
                                          " ELSE json_extract(receipt, '$.exit_status') IS 0 END";

struct HistoryDatabase {
    sqlite::Database db;
    /// Contains the number of the file's schema. Only a file that was opened for reading may have an older schema. Schema 1 has
    /// no kinds, schema 2 has no table `live`, and schema 3 has no JobOutcome::Unknown.
    std::uint64_t schema = 0;
    bool immutable = false; ///< the connection does not see what others write after it was opened
};

/// Opens the file for reading and writing, creates it if it does not exist, and brings it to the newest schema. Before a
/// migration from an older schema, openHistoryFile() calls `beforeMigration`, if set. Errors: Damaged; Internal. The message
/// contains sqlite's message and the path.
Result<HistoryDatabase> openHistoryFile(const std::filesystem::path& file, const std::function<void()>& beforeMigration);
/// Opens the file for reading only, and does not create or change the file. Errors: Damaged; Internal. The message contains
/// sqlite's message and the path.
Result<HistoryDatabase> openHistoryFileReadOnly(const std::filesystem::path& file);

} // namespace pinfold
