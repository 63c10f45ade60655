// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "store/history.hpp"

#include <vector>

namespace pinfold {

/// Gets receipts from pinfoldd. If pinfoldd is not reachable, findReceipts() says so on standard error and reads the history's
/// file, if the caller may read it. The newest receipts come first.
Result<std::vector<Receipt>> findReceipts(const ReceiptFilter& filter);

} // namespace pinfold
