// SPDX-License-Identifier: LGPL-2.1-or-later
// The query of History::list().
#pragma once

#include "store/history.hpp"
#include "store/history_schema.hpp"

namespace pinfold {

/// The receipts that match, newest first. Error: Internal.
Result<std::vector<Receipt>> listReceipts(const HistoryDatabase& history, const ReceiptFilter& filter);

} // namespace pinfold
