// SPDX-License-Identifier: LGPL-2.1-or-later
// A receipt in plain words: why a job ended, what it used against what it asked for, what it left behind.
#pragma once

#include "cli/format.hpp"
#include "model/receipt.hpp"

#include <string>

namespace pinfold {

/// One sentence.
std::string causeInWords(const Receipt& receipt);

/// The page of `pinfold why`.
std::string receiptPage(const Receipt& receipt, const std::string& user, const Amounts& amounts);

} // namespace pinfold
