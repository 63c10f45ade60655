// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "store/history.hpp"

#include <vector>

namespace pinfold {

/// Gets receipts from pinfoldd. If pinfoldd is not reachable, findReceipts() prints a message to standard error, and reads the
/// history's file if the caller has the right to read it. In the result, the newest receipts come first.
Result<std::vector<Receipt>> findReceipts(const ReceiptFilter& filter);

} // namespace pinfold
