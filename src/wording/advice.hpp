// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/receipt.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// Returns advice for the next run of a job: paragraphs without line breaks, the most important first. The advice says only what
/// the receipt proves. If a job was so short that another second of run time could change a piece of advice, adviceOn() leaves
/// this piece out.
std::vector<std::string> adviceOn(const Receipt& receipt);

} // namespace pinfold
