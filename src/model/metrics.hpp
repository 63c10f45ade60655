// SPDX-License-Identifier: LGPL-2.1-or-later
// Describes the metrics of pinfoldd about the node. The man page pinfoldd(8) lists the names of all metrics. Other programs rely
// on the names of metrics. A new version of pinfold can add metrics, but must not change a name.
#pragma once

#include "model/exposition.hpp"
#include "model/idleness.hpp"
#include "model/job_key.hpp"
#include "model/node_resources.hpp"
#include "model/receipt.hpp"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Describes the subject of a warning or an error in pinfoldd's log.
enum class Trouble {
    Config,  ///< pinfoldd rejected the configuration
    Limit,   ///< a job runs without a limit that the job asked for
    Receipt, ///< pinfoldd could not write a receipt to the history
    Record,  ///< pinfoldd cannot write, read or remove a live job's record
    Start,   ///< pinfoldd failed to create a job
    Stop,    ///< pinfoldd cannot kill a process of a job, or cannot remove a part of a job
    Other,
};

std::string_view toString(Trouble trouble);
/// Returns the names of all kinds of trouble.
std::vector<std::string> troubleNames();

/// Counts events since the start of pinfoldd. When a job is over, add() adds the facts in the job's receipt to the counts. The
/// counts of ended jobs agree with the output of `pinfold history`.
struct NodeCounts {
    NodeCounts();
    void add(const Receipt& receipt);

    /// For each result, the number of jobs that have ended with the result. The map jobsEnded has an entry for every result.
    std::map<JobResult, std::uint64_t> jobsEnded;
    std::map<Trouble, std::uint64_t> errors; ///< maps every kind of trouble to the number of errors of this kind
    std::uint64_t leftoverProcesses = 0;
    std::uint64_t leftoverJobs = 0; ///< the number of jobs that left processes behind
    /// The number of processes that the kernel killed because memory ran out, or 0 if the kernel does not count memory.
    std::uint64_t oomKills = 0;
    /// The number of orphans of each kind. The map `orphans` has an entry for every name of forEachOrphanKind().
    std::map<std::string, std::uint64_t, std::less<>> orphans;
    DurationHistogram scopeStart;
};

/// Holds the figures of one live job.
struct JobFigures {
    JobKey key;
    uid_t uid = 0;
    ResourceLimits limits;
    Usage usage;
    std::optional<std::string> user = {}; ///< the name of the owner; unset if the name is not known
    /// Maps the number of each GPU of the job to the GPU's name in the job's environment. The name of a GPU is empty if the site
    /// has set no names.
    std::map<unsigned, std::string> gpus = {};
};

/// Holds figures about receipts that wait to be written to the history, and about receipts that are lost.
struct HistoryFigures {
    bool failing = false;      ///< pinfoldd cannot write receipts
    std::uint64_t kept = 0;    ///< the number of receipts that wait in /run until pinfoldd can write them
    std::uint64_t dropped = 0; ///< the number of receipts that are lost, because too many receipts waited
    std::uint64_t damaged = 0; ///< the number of damaged history files that were moved aside
};

struct NodeMetrics {
    std::string version;
    std::size_t jobs = 0; ///< the number of live jobs
    bool draining = false;
    bool drainingAutomatic = false;    ///< pinfoldd itself has drained the node, and no administrator has drained it
    std::size_t unkillable = 0;        ///< the number of live jobs with processes that SIGKILL did not end
    std::optional<IdleJobs> idle = {}; ///< the idle live jobs; unset if Sampler is switched off
    HistoryFigures history = {};
    /// The number of receipts that are not in the archive; unset if the site has no archive.
    std::optional<std::uint64_t> unsent = {};
    NodeResources resources = {};
    std::size_t unclosed = 0; ///< the number of descriptors from users that pinfoldd has not been able to close yet
    /// Maps the name of each lane to the number of calls that pinfoldd refused in the lane. pinfoldd refuses a call if too many
    /// earlier calls in the same lane hang.
    std::map<std::string, std::uint64_t> refused = {};
    NodeCounts counts;
    std::vector<JobFigures> each; ///< the figures of each live job; empty if the site does not want figures of single jobs
};

/// Returns the metrics in Prometheus' text format. If a figure of a job is not known, metricsText() writes no series for the
/// figure. metricsText() writes no series for a limit that is unset or infinite.
std::string metricsText(const NodeMetrics& metrics);

} // namespace pinfold
