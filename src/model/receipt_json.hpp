// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "model/receipt.hpp"

#include <string>
#include <string_view>

namespace pinfold {

/// Converts a receipt to the JSON that pinfold prints. The JSON keys are the same as the names in the answer of
/// org.pinfold1.Manager.GetReceipt. If a value is not known, the JSON value is null.
std::string encode(const Receipt& receipt);
/// Returns the JSON of encode() without the members that are null. In most receipts, most members are null. Without the null
/// members, the history has half the size, and pinfoldd writes a receipt in less time.
std::string encodeForStore(const Receipt& receipt);
/// Reads a text that encode() or encodeForStore() has written. decodeReceipt() accepts texts of earlier versions of pinfold.
/// Fails with InvalidArgument if the text is not a receipt.
Result<Receipt> decodeReceipt(std::string_view text);

} // namespace pinfold
