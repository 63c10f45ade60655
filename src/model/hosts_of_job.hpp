// SPDX-License-Identifier: LGPL-2.1-or-later
// Combines the receipts of one job from several hosts. The functions are pure. The result is the same for every order of the
// receipts, and repeated receipts do not change the result.
#pragma once

#include "base/clock.hpp"
#include "model/first_end.hpp"
#include "model/receipt.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

constexpr std::size_t kMostHostBytes = 255; ///< the maximum length of the name of a host in bytes, as in DNS

/// Compares the end of the job on one host with the event that ended the whole job.
enum class HostRole {
    First,    ///< the event that ended the whole job happened on this host
    OfItself, ///< a local event, such as a time limit, ended the job on this host; another event ended the whole job
    /// On this host, the job ended after the event that ended the whole job. The receipts show no local reason for the job's
    /// end on this host.
    After,
    Before, ///< on this host, the last process of the job had ended before the event that ended the whole job
};

struct HostOfJob {
    /// The name of the host in the receipts. If some receipts have the short name of the host, `name` is the short name. The name
    /// of the host is empty if an earlier pinfold wrote the receipts.
    std::string name;
    /// The receipts of the job from this host, sorted by Receipt::started. `receipts` has at least one element. `receipts` has
    /// more than one element if the job had no process on the host for a while.
    std::vector<Receipt> receipts;
    HostRole role = HostRole::After;
    RealTime ended{};                        ///< the time at which the last process of the job ended, by the clock of the host
    std::optional<Microseconds> cpu;         ///< the CPU time, user and system; unset if the CPU time is missing in a receipt
    std::optional<std::uint64_t> memoryNeed; ///< the highest memory need in the receipts, in bytes
    std::optional<std::uint64_t> memoryPeak; ///< the highest memory peak in the receipts, in bytes, page cache included
    std::uint64_t tasks = 0;
    std::uint64_t leftovers = 0; ///< the number of processes that the job left behind
    std::uint64_t oomKills = 0;  ///< the number of processes that were killed because memory ran out

    bool operator==(const HostOfJob&) const = default;
};

/// Holds the sum, the maximum and the minimum of a figure. The class Spread ignores each host whose receipts do not contain the
/// figure.
struct Spread {
    std::size_t hosts = 0; ///< the number (1 or more) of hosts whose receipts contain the figure
    std::uint64_t total = 0;
    std::uint64_t most = 0;
    std::uint64_t least = 0;
    std::size_t mostHost = 0; ///< HostsOfJob::hosts[mostHost] is the first host whose figure equals `most`
    std::size_t leastHost = 0;

    std::uint64_t mean() const { return total / hosts; }
    bool operator==(const Spread&) const = default;
};

/// Says how much later than the first event the job ended on the hosts with the role HostRole::After.
struct Delays {
    std::size_t hosts = 0;
    Microseconds earliest{}; ///< 0 if the clock of a host is behind the clock of the first host
    Microseconds latest{};

    bool operator==(const Delays&) const = default;
};

struct HostsOfJob {
    std::vector<HostOfJob> hosts; ///< the hosts in the order of their names; each host is in the list once
    FirstEnd first;
    Delays after;
    /// The hosts from which the job has no receipt. Each host has the name that the batch system reported. The list of missing
    /// hosts is empty if the batch system and the hosts use different names.
    std::vector<std::string> missing;
    std::uint64_t missingUnnamed = 0; ///< the number of hosts that have no receipt and no known name
    std::optional<Spread> cpu;        ///< in microseconds
    std::optional<Spread> memoryNeed; ///< in bytes
    std::optional<Spread> memoryPeak; ///< in bytes
    std::uint64_t tasks = 0;
    std::uint64_t leftovers = 0;
    Microseconds leftoverCpu{};
    std::uint64_t oomKills = 0;
    RealTime started{}; ///< the earliest start of the job on any host
    RealTime ended{};   ///< the latest end of the job on any host

    const Receipt& receiptOf(const EndEvent& event) const { return hosts[event.host].receipts[event.receipt]; }
    /// Returns the receipt that explains the end of the job. If no receipt explains the end, the result is an arbitrary receipt.
    const Receipt& explaining() const { return first.event ? receiptOf(*first.event) : hosts.front().receipts.back(); }
    bool operator==(const HostsOfJob&) const = default;
};

/// Returns a text that is the same for all names of a host, such as "node7" for "node7.example.org" and "NODE7". An address such
/// as 10.0.0.7 has no short form.
std::string keyOfHost(std::string name);

/// Returns the receipts of the job's newest run. All receipts in `receipts` must have the same key. All receipts in the result
/// are from one cluster, one user and one run of the job. If the batch system does not count the runs of a job, a run consists of
/// receipts with overlapping times.
std::vector<Receipt> newestRun(std::vector<Receipt> receipts);

/// Combines the receipts that newestRun() has returned. If several receipts of a host have the same receipt id, hostsOfJob() uses
/// the receipt that says how the job ended. Two names mean the same host if keyOfHost() returns the same text for both names.
/// `receipts` must not be empty.
HostsOfJob hostsOfJob(std::vector<Receipt> receipts);

} // namespace pinfold
