// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/receipt.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// Advice for the next time: paragraphs without line breaks, the most important first. It says only what the receipt proves.
/// If a job was short, so that another second of run time could change a piece of advice, that advice is left out.
std::vector<std::string> adviceOn(const Receipt& receipt);

} // namespace pinfold
