// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "bus_client/manager_client.hpp"
#include "cli/journal_lines.hpp"
#include "cli/table.hpp"
#include "wording/amounts.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

struct NodeStatus {
    std::string version; ///< the version of pinfoldd
    std::vector<JobInfo> jobs;
    std::optional<Drain> drain = {}; ///< the drain of the node; unset if the node takes new jobs
    NodeResources resources = {};
    /// the warnings and errors of pinfoldd, oldest first; unset if the caller is not allowed to read the journal
    std::optional<std::vector<DaemonMessage>> lastErrors = {};
};

/// Returns the number of jobs in each state.
std::map<std::string, std::size_t> jobsByState(const std::vector<JobInfo>& jobs);

/// Returns the number of jobs of each batch system. The first part of a job's key names the batch system.
std::map<std::string, std::size_t> jobsByScheduler(const std::vector<JobInfo>& jobs);

/// Converts an amount from NodeResources::cpus, in microseconds of CPU time per second, to a number of CPUs.
inline double cpusOf(std::uint64_t usecPerSecond) { return static_cast<double>(usecPerSecond) / 1e6; }

/// Returns the output of `pinfold status` about the node.
std::string nodePage(const NodeStatus& node, const Terminal& terminal, const Amounts& amounts, const TableStyle& style);

} // namespace pinfold
