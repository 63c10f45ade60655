// SPDX-License-Identifier: LGPL-2.1-or-later
// Contains the data that the golden files show. The users are root and a user id that has no name on any host.
#pragma once

#include "bus_client/manager_client.hpp"
#include "cli/archive_status.hpp"
#include "cli/json.hpp"
#include "cli/node_page.hpp"
#include "cli/stray_rows.hpp"
#include "cli/top_rows.hpp"
#include "doctor/finding.hpp"
#include "os/journal_reader.hpp"
#include "strays/leftover_search.hpp"

#include <vector>

namespace pinfold::golden {

constexpr RealTime kNow(1'700'000'000s); // 2023-11-14T22:13:20Z
constexpr std::uint64_t kMiB = 1 << 20;
constexpr uid_t kUser = 4'000'000;

std::vector<JobInfo> jobs();
std::vector<JobProcess> processes();
JobDetail detail();
NodeStatus node();
std::vector<JobDetail> details(); ///< the details of jobs(); the first job has all details
ResourceLimits limits();
std::vector<Receipt> receipts();
HostsOfJob hosts(); ///< a job of seven hosts, of which five have a receipt
std::vector<TopRow> topRows();
Profile profile();
IdleListing idle();
StrayRun strays();
LeftoverListing leftovers();
std::vector<doctor::Finding> findings();
ArchiveStatus archive();
JournalEntry journalEntry();

} // namespace pinfold::golden
