// SPDX-License-Identifier: LGPL-2.1-or-later
// What a site's monitoring is told about the node. pinfoldd(8) lists the names. Other programs rely on them: only add, never
// change.
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

/// The subject of a warning or an error that pinfoldd logs.
enum class Trouble {
    Config,  ///< the configuration was rejected
    Limit,   ///< a job runs without a limit that it asked for
    Receipt, ///< the history did not take a receipt
    Record,  ///< a live job's record cannot be written, read or removed
    Start,   ///< a job was not created
    Stop,    ///< something of a job cannot be killed or removed
    Other,
};

/// Counts of what happened since pinfoldd started. Jobs are counted from their receipts when they are over, so that the figures
/// agree with `pinfold history`.
struct NodeCounts {
    NodeCounts();
    void add(const Receipt& receipt);

    std::map<JobResult, std::uint64_t> jobsEnded; ///< every result is in it
    std::map<Trouble, std::uint64_t> errors;      ///< every kind is in it
    std::uint64_t leftoverProcesses = 0;
    std::uint64_t leftoverJobs = 0;                            ///< jobs that left processes behind
    std::uint64_t oomKills = 0;                                ///< killed processes; 0 where memory is not counted
    std::map<std::string, std::uint64_t, std::less<>> orphans; ///< by the names of forEachOrphanKind(); every name is in it
    DurationHistogram scopeStart;
};

/// A live job's own series.
struct JobFigures {
    JobKey key;
    uid_t uid = 0;
    ResourceLimits limits;
    Usage usage;
};

/// Figures of the receipts on their way to the history.
struct HistoryFigures {
    bool failing = false;      ///< receipts cannot be written
    std::uint64_t kept = 0;    ///< receipts that wait in /run until they can be written
    std::uint64_t dropped = 0; ///< receipts that are lost, since too many were kept
    std::uint64_t damaged = 0; ///< damaged history files that were moved aside
};

struct NodeMetrics {
    std::string version;
    std::size_t jobs = 0; ///< live
    bool draining = false;
    HistoryFigures history = {};
    std::size_t unclosed = 0; ///< files of users that wait to be closed, or whose close() hangs
    NodeCounts counts;
    std::vector<JobFigures> each; ///< each key at most once; empty: the jobs' own series are off
};

/// The metrics in Prometheus' text format. A job's figure that is not known has no series, nor has a limit that is unset or
/// infinite.
std::string metricsText(const NodeMetrics& metrics);

} // namespace pinfold
