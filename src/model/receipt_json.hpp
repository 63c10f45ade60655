// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "model/receipt.hpp"

#include <string>
#include <string_view>

namespace pinfold {

/// Returns a receipt as JSON, for the history and for the output of pinfold. The JSON keys are the same as the names in the
/// answer of org.pinfold1.Manager.GetReceipt. If a value is not known, the JSON value is null.
std::string encode(const Receipt& receipt);
/// Reads a text that encode() of this version or of an earlier version of pinfold has written. Error: InvalidArgument for any
/// other text.
Result<Receipt> decodeReceipt(std::string_view text);

} // namespace pinfold
