// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads and writes the table `profiles` of history.db.
#pragma once

#include "model/receipt.hpp"
#include "store/history_schema.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// Stores Receipt::profile in the database, if the receipt has a profile. The receipt must be in the table `receipts` already.
Result<void> addProfile(sqlite3* db, const Receipt& receipt);

/// Returns Receipt::profile of the receipt with the given id. The result is empty if the receipt has no profile or does not
/// exist.
Result<std::string> readProfile(const HistoryDatabase& file, const std::string& id);

/// Reads Receipt::profile of all `receipts`. Call readProfiles() only with receipts whose sequence is set.
Result<void> readProfiles(sqlite3* db, std::vector<Receipt>& receipts);

} // namespace pinfold
