// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/receipt.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// Advice for the next time: paragraphs without line breaks, the most important first. It says only what the receipt proves.
/// About a short job it says nothing that another second could change.
std::vector<std::string> adviceOn(const Receipt& receipt);

} // namespace pinfold
