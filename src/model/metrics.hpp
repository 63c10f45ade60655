// SPDX-License-Identifier: LGPL-2.1-or-later
// What a site's monitoring is told of the node. The names are listed in pinfoldd(8); others build on them: additions only.
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

/// What a warning or an error that pinfoldd logs is about.
enum class Trouble {
    Config,  ///< the configuration was rejected
    Limit,   ///< a job runs without a limit that it asked for
    Receipt, ///< the history did not take a receipt
    Record,  ///< a live job's record can't be written, read or removed
    Start,   ///< a job was not created
    Stop,    ///< something of a job can't be killed or removed
    Other,
};

/// What happened since pinfoldd started. Jobs count when they are over, from their receipts, so that the figures are those of
/// `pinfold history`.
struct NodeCounts {
    NodeCounts();
    void add(const Receipt& receipt);

    std::map<JobResult, std::uint64_t> jobsEnded; ///< every result is in it
    std::map<Trouble, std::uint64_t> errors;      ///< every kind is in it
    std::uint64_t rogueProcesses = 0;
    std::uint64_t rogueJobs = 0;                               ///< jobs that left processes behind
    std::uint64_t oomKills = 0;                                ///< processes; where memory isn't counted, none
    std::map<std::string, std::uint64_t, std::less<>> orphans; ///< by the names of forEachOrphanKind(), every one is in it
    DurationHistogram scopeStart;
};

/// A live job's own series.
struct JobFigures {
    JobKey key;
    uid_t uid = 0;
    ResourceLimits limits;
    Usage usage;
};

/// How the receipts fare on their way to the history.
struct HistoryFigures {
    bool failing = false;      ///< receipts cannot be written
    std::uint64_t kept = 0;    ///< receipts that wait in /run for that
    std::uint64_t dropped = 0; ///< receipts that are lost, since too many were kept
    std::uint64_t damaged = 0; ///< files that were moved aside
};

struct NodeMetrics {
    std::string version;
    std::size_t jobs = 0; ///< live
    bool draining = false;
    HistoryFigures history = {};
    std::size_t unclosed = 0; ///< files of users that wait to be closed, or hang in it
    NodeCounts counts;
    std::vector<JobFigures> each; ///< no key twice; empty: the jobs' own series are off
};

/// In Prometheus' text format. A job's figure that isn't known has no series, and likewise a limit that is unset or infinite.
std::string metricsText(const NodeMetrics& metrics);

} // namespace pinfold
