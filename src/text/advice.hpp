// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/receipt.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// What to do better next time, the most important first, one paragraph without line breaks each. Only what the receipt proves:
/// of a short job nothing is said that another second could change.
std::vector<std::string> adviceOn(const Receipt& receipt);

} // namespace pinfold
