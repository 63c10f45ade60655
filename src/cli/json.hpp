// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the JSON documents that pinfold prints for --json. Each document has a schema number. The keys in the documents never
// change their meaning. A value that is not known is null.
#pragma once

#include "base/clock.hpp"
#include "bus_client/manager_client.hpp"
#include "cli/idle_table.hpp"
#include "cli/limit_text.hpp"
#include "cli/node_page.hpp"
#include "cli/stray_rows.hpp"
#include "cli/top_rows.hpp"
#include "config/config.hpp"
#include "config/config_values.hpp"
#include "doctor/finding.hpp"
#include "model/hosts_of_job.hpp"
#include "strays/leftover_search.hpp"
#include "systemd/systemd_manager.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

struct JobDetail {
    JobInfo job;
    ResourceLimits limits = {};
    std::vector<std::string> limitsNotEnforced = {}; ///< the names of the limits that are not in force
    Allocation allocation = {};
    std::optional<std::uint64_t> slots = {};               ///< the number of slots that the batch system gave the job
    JobIdentity identity = {};                             ///< empty if the caller is not allowed to see the identity
    std::optional<Usage> usage = {};                       ///< set if the caller is allowed to see the usage
    bool usageDenied = false;                              ///< true if the caller is not allowed to see the usage
    std::optional<std::vector<JobProcess>> processes = {}; ///< set if the caller is allowed to see the processes
};

/// Holds what a job used over time on a host.
struct HostProfile {
    std::string host;
    RealTime started{}; ///< the start of the period that the first point of the profile covers
    Profile profile;
};

/// Returns the JSON document of `pinfold list`. The document does not contain the members of JobDetail other than `job`.
std::string jsonJobs(const std::vector<JobDetail>& jobs);
std::string jsonJob(const JobDetail& detail);
std::string jsonLimits(const std::string& job, const ResourceLimits& limits, const Enforcement& enforcement);
std::string jsonProcesses(const std::vector<JobProcess>& processes);
std::string jsonReceipts(const std::vector<Receipt>& receipts);
std::string jsonReceipt(const Receipt& receipt);
/// Returns the JSON document of `pinfold why` for a job of several hosts.
std::string jsonHosts(const HostsOfJob& job);
/// Returns a receipt as a single line of JSON. A program that reads pinfold's output can handle each line before the next line
/// comes.
std::string jsonReceiptLine(const Receipt& receipt);
std::string jsonProfile(const std::string& job, const Profile& profile);
/// Returns the JSON document of `pinfold plot` for a job that has several receipts.
std::string jsonProfiles(const std::string& job, const std::vector<HostProfile>& profiles);
std::string jsonReconciliation(const Reconciliation& found);
std::string jsonVacuumed(const Vacuumed& done, bool dryRun);
/// Returns the JSON document about the node. If the user asked for details, `details` contains the details of the live jobs.
std::string jsonNode(const NodeStatus& node, const std::optional<std::vector<JobDetail>>& details = {});
/// Returns the JSON document about a job that has no receipt yet.
std::string jsonNotOver(const std::string& key);
std::string jsonConfigCheck(const Result<LoadedConfig>& loaded);
std::string jsonConfigValues(const std::vector<ConfigValue>& values);
std::string jsonUnits(const StartRequest& request);
std::string jsonFindings(const std::vector<doctor::Finding>& findings);
std::string jsonVersions(const std::optional<std::string>& daemon);
/// Returns the JSON document of `pinfold top`. `at` is the time at which pinfold read the values.
std::string jsonTop(const std::vector<TopRow>& rows, RealTime at);
std::string jsonIdle(const IdleListing& listing);
std::string jsonStrays(const StrayRun& run);
std::string jsonOpened(const std::string& job, const std::string& slice, const std::map<std::string, std::string>& environment);
std::string jsonTask(const std::string& job, std::uint32_t task, const std::string& unit);
/// Returns the JSON document of a command with --dry-run. `job` is empty if the command acts on the node, and not on a job.
/// `would` says what the command would do.
std::string jsonDryRun(const std::optional<std::string>& job, const std::vector<std::string>& would);
std::string jsonLeftoverFiles(const LeftoverListing& listing);

} // namespace pinfold
