// SPDX-License-Identifier: LGPL-2.1-or-later
// What History::list() does.
#pragma once

#include "os/history.hpp"
#include "os/history_schema.hpp"

namespace pinfold {

/// Newest first. Error: Internal.
Result<std::vector<Receipt>> listReceipts(const HistoryDatabase& history, const ReceiptFilter& filter);

} // namespace pinfold
