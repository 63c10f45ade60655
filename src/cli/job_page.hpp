// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/json.hpp"
#include "cli/verbs.hpp"

namespace pinfold {

/// Returns the output of `pinfold status` for a live job, without the lines of the journal.
std::string jobPage(const JobDetail& detail, const Terminal& terminal, const Amounts& amounts, const TableStyle& style);

std::string processTable(const std::vector<JobProcess>& processes, const Amounts& amounts, const TableStyle& style);

} // namespace pinfold
