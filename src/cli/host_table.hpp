// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/table.hpp"
#include "model/hosts_of_job.hpp"
#include "wording/amounts.hpp"

#include <string>

namespace pinfold {

/// Returns the table of `pinfold why --hosts`. The first line shows the host on which an event ended the whole job. The last
/// lines show the hosts without a receipt.
std::string hostTable(const HostsOfJob& job, const Amounts& amounts, const TableStyle& style);

} // namespace pinfold
