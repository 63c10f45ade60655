// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/json.hpp"
#include "cli/verbs.hpp"

namespace pinfold {

/// Asks pinfoldd for all data of a live job that the caller may see, except for the list of processes. The errors are those of
/// ManagerClient.
Result<JobDetail> askDetailOf(const ManagerClient& client, const JobInfo& job);
Result<JobDetail> askDetailWithoutProcesses(const ManagerClient& client, const std::string& key);
Result<JobDetail> askDetail(const ManagerClient& client, const std::string& key);

/// Returns the output of `pinfold status` for a live job, without the lines of the journal.
std::string jobPage(const JobDetail& detail, const Terminal& terminal, const Amounts& amounts, const TableStyle& style);

std::string processTable(const std::vector<JobProcess>& processes, const Amounts& amounts, const TableStyle& style);

} // namespace pinfold
