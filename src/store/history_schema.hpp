// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares the tables and indexes of history.db, and migrates an older file to the newest schema.
//
// A filter can contain the key, the user, times, the scheduler, the result, the outcome and leftovers. A filter contains the
// outcome as the number of a JobOutcome. The field `leftovers` is 1 if the job left processes behind. Each of the four fields
// scheduler, result, outcome and leftovers has only a few possible values. Each existing combination of scheduler, result,
// outcome and leftovers is a kind, and has a row in the table `kinds`. The row of each receipt contains the number of the
// receipt's kind. In each index, the receipts of one kind are sorted by `ended`. With a few index searches and a merge, pinfold
// finds the newest receipts that match a filter. The search is fast even if only a few receipts match the filter.
//
// The column `number` contains the sequence (a number) of a receipt. The table `numbering` stores the last sequence, so that
// sqlite does not reuse the numbers of removed receipts. The table `numbering` also stores the epoch of the history. The epoch is
// a random name that each new file gets.
//
// The table `live` has a row for each running job. A row of `live` contains the receipt that the job gets if the node goes down.
//
// The table `profiles` stores the profiles of jobs (encode(Profile)). A profile shows the job's use of resources over time. The
// profiles are not in the table of receipts, because most queries need no profile. A trigger removes a profile together with its
// receipt.
#pragma once

#include "store/sqlite.hpp"

#include <filesystem>
#include <functional>

namespace pinfold {

constexpr std::uint64_t kHistorySchema = 5;

/// Contains an SQL expression that turns the JSON text in the column `receipt` into the number of a JobOutcome.
constexpr const char* kOutcomeOfReceipt = "CASE WHEN json_extract(receipt, '$.result') IS NOT 'exited' THEN 0"
                                          " WHEN json_extract(receipt, '$.exit_status') IS NULL THEN 2"
                                          " ELSE json_extract(receipt, '$.exit_status') IS 0 END";

struct HistoryDatabase {
    sqlite::Database db;
    /// Contains the number of the file's schema. If the schema is not the newest one, the file is open only for reading, because
    /// an open for writing migrates the file. Schema 1 has no kinds. Schema 2 has no table `live`. Schema 3 has no
    /// JobOutcome::Unknown. Schema 4 has neither the table `numbering` nor the table `profiles`.
    std::uint64_t schema = 0;
    bool immutable = false; ///< the connection does not see changes that other programs write after the file was opened
};

/// Opens the file for reading and writing. Creates the file if it does not exist, and migrates an older file to the newest
/// schema. openHistoryFile() calls `beforeMigration` (if it is set) before a migration from an older schema. Errors: Damaged;
/// Internal. An error message contains sqlite's message and the path.
Result<HistoryDatabase> openHistoryFile(const std::filesystem::path& file, const std::function<void()>& beforeMigration);
/// Opens the file for reading only, and does not create or change the file. Errors: Damaged; Internal. An error message contains
/// sqlite's message and the path.
Result<HistoryDatabase> openHistoryFileReadOnly(const std::filesystem::path& file);

} // namespace pinfold
