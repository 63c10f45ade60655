// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "os/history.hpp"

#include <vector>

namespace pinfold {

/// From pinfoldd; when that is not reachable, from the history's file, where the caller may read it, with a word about it on
/// standard error. Newest first.
Result<std::vector<Receipt>> findReceipts(const ReceiptFilter& filter);

} // namespace pinfold
