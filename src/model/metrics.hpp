// SPDX-License-Identifier: LGPL-2.1-or-later
// Describes the metrics of pinfoldd about the node. The man page pinfoldd(8) lists the names of all metrics. Other programs
// rely on the names of metrics, so a new version of pinfold may add metrics, but must not change a name.
#pragma once

#include "model/exposition.hpp"
#include "model/job_key.hpp"
#include "model/receipt.hpp"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Says what a warning or an error in pinfoldd's log is about.
enum class Trouble {
    Config,  ///< pinfoldd rejected the configuration
    Limit,   ///< a job runs without a limit that it asked for
    Receipt, ///< the history did not take a receipt
    Record,  ///< pinfoldd cannot write, read or remove a live job's record
    Start,   ///< pinfoldd did not create a job
    Stop,    ///< pinfoldd cannot kill or remove a part of a job
    Other,
};

/// Counts events since the start of pinfoldd. When a job is over, pinfoldd counts the job by its receipt. So the numbers agree
/// with `pinfold history`.
struct NodeCounts {
    NodeCounts();
    void add(const Receipt& receipt);

    std::map<JobResult, std::uint64_t> jobsEnded; ///< has an entry for every result
    std::map<Trouble, std::uint64_t> errors;      ///< has an entry for every kind of trouble
    std::uint64_t leftoverProcesses = 0;
    std::uint64_t leftoverJobs = 0;                            ///< jobs that left processes behind
    std::uint64_t oomKills = 0;                                ///< killed processes; 0 if the kernel does not count memory
    std::map<std::string, std::uint64_t, std::less<>> orphans; ///< by the names of forEachOrphanKind(); has an entry for every
                                                               ///< name
    DurationHistogram scopeStart;
};

/// Holds the figures of one live job.
struct JobFigures {
    JobKey key;
    uid_t uid = 0;
    ResourceLimits limits;
    Usage usage;
};

/// Holds figures about receipts that are not in the history, because they wait to be written or are lost.
struct HistoryFigures {
    bool failing = false;      ///< pinfoldd cannot write receipts
    std::uint64_t kept = 0;    ///< receipts that wait in /run until pinfoldd can write them
    std::uint64_t dropped = 0; ///< receipts that are lost, because pinfoldd had set aside too many
    std::uint64_t damaged = 0; ///< damaged history files that were moved aside
};

struct NodeMetrics {
    std::string version;
    std::size_t jobs = 0; ///< live jobs
    bool draining = false;
    bool drainingAutomatic = false; ///< pinfoldd has drained the node, and no administrator has
    std::size_t unkillable = 0;     ///< live jobs with processes that SIGKILL did not end
    HistoryFigures history = {};
    std::size_t unclosed = 0; ///< files of users that pinfoldd still has to close, or whose close() hangs
    NodeCounts counts;
    std::vector<JobFigures> each; ///< one entry for each live job; empty if the site does not want figures of single jobs
};

/// Returns the metrics in Prometheus' text format. If a figure of a job is not known, the text has no series for the figure.
/// The text also has no series for a limit that is unset or infinite.
std::string metricsText(const NodeMetrics& metrics);

} // namespace pinfold
