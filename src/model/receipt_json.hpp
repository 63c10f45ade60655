// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "model/receipt.hpp"

#include <string>
#include <string_view>

namespace pinfold {

/// Returns a receipt as JSON, for the history and for people. The keys are the names of org.pinfold1.Manager.GetReceipt. A value
/// that is not known is null.
std::string encode(const Receipt& receipt);
/// Reads what encode() wrote, in this version of pinfold or an earlier one. Error: InvalidArgument for any other text.
Result<Receipt> decodeReceipt(std::string_view text);

} // namespace pinfold
