// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/receipt.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// Returns advice for the next run of a job. Each piece of advice is a paragraph without line breaks; the most important piece
/// comes first. The advice says only what the receipt proves. If one more second of run time would change a piece of advice,
/// adviceOn() leaves out this advice.
std::vector<std::string> adviceOn(const Receipt& receipt);

} // namespace pinfold
