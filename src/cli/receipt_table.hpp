// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/table.hpp"
#include "model/receipt.hpp"
#include "wording/amounts.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// Returns the table of `pinfold history`. If the receipts come from several hosts, the table has a column for the host.
std::string receiptTable(const std::vector<Receipt>& receipts, const Amounts& amounts, const TableStyle& style);

} // namespace pinfold
