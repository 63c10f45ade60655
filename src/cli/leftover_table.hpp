// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/table.hpp"
#include "strays/leftover_search.hpp"
#include "wording/amounts.hpp"

#include <string>

namespace pinfold {

/// Lists the modes of `pinfold strays --files`. In the modes List and DryRun, the command removes no files.
enum class LeftoverAction { List, DryRun, Remove };

std::string leftoverTable(const LeftoverListing& listing, LeftoverAction action, const Amounts& amounts, const TableStyle& style);

} // namespace pinfold
