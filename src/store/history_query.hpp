// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs the query of History::list().
#pragma once

#include "store/history.hpp"
#include "store/history_schema.hpp"

namespace pinfold {

/// Returns the epoch of the history. Error: Internal.
Result<std::string> epochOf(sqlite3* db);

/// Returns the receipts that match the filter, the newest first. Error: Internal.
Result<std::vector<Receipt>> listReceipts(const HistoryDatabase& history, const ReceiptFilter& filter);

} // namespace pinfold
