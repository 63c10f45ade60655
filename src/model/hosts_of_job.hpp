// SPDX-License-Identifier: LGPL-2.1-or-later
// Puts the receipts of one job from several hosts together. The functions are pure. The order of the receipts and repeated
// receipts do not change the answer.
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

/// Says how the end of the job on a host is related to the end of the whole job.
enum class HostRole {
    First,    ///< the event that ended the whole job was on this host
    OfItself, ///< the job ended later than on the first host, but for a reason of this host, such as its own memory limit
    After,    ///< the job ended after the event and, as far as the receipts say, because of the event
    Before,   ///< the last process of the job on the host had ended before the event
};

struct HostOfJob {
    /// The name in the receipts. If some receipts have the short name of the host, `name` is the short name. The name is empty if
    /// the receipts are of an earlier pinfold.
    std::string name;
    std::vector<Receipt> receipts; ///< at least one receipt, by start; several if the job had no process on the host for a while
    HostRole role = HostRole::After;
    RealTime ended{};                        ///< when the last process of the job ended, by the clock of the host
    std::optional<Microseconds> cpu;         ///< the CPU time, user and system; unset if a receipt does not have it
    std::optional<std::uint64_t> memoryNeed; ///< the highest memory need in the receipts, in bytes
    std::optional<std::uint64_t> memoryPeak; ///< the highest memory peak in the receipts, with page cache, in bytes
    std::uint64_t tasks = 0;
    std::uint64_t leftovers = 0; ///< the number of processes that the job left behind
    std::uint64_t oomKills = 0;  ///< the number of processes that were killed because memory ran out

    bool operator==(const HostOfJob&) const = default;
};

/// Says how a figure is distributed over the hosts that know it.
struct Spread {
    std::size_t hosts = 0; ///< the number of hosts that know the figure, at least 1
    std::uint64_t total = 0;
    std::uint64_t most = 0;
    std::uint64_t least = 0;
    std::size_t mostHost = 0; ///< an index of HostsOfJob::hosts; the first host of several with the same figure
    std::size_t leastHost = 0;

    std::uint64_t mean() const { return total / hosts; }
    bool operator==(const Spread&) const = default;
};

/// Says how long after the first event the job ended on the hosts with the role HostRole::After.
struct Delays {
    std::size_t hosts = 0;
    Microseconds earliest{}; ///< 0 if a host's clock is behind
    Microseconds latest{};

    bool operator==(const Delays&) const = default;
};

struct HostsOfJob {
    std::vector<HostOfJob> hosts; ///< the hosts in the order of their names; each host is in the list once
    FirstEnd first;
    Delays after;
    /// The hosts that the batch system named, and from which there is no receipt. The list is empty if the batch system and the
    /// hosts use different names.
    std::vector<std::string> missing;
    std::uint64_t missingUnnamed = 0; ///< the number of further hosts without a receipt; their names are not known
    std::optional<Spread> cpu;        ///< in microseconds
    std::optional<Spread> memoryNeed; ///< in bytes
    std::optional<Spread> memoryPeak; ///< in bytes
    std::uint64_t tasks = 0;
    std::uint64_t leftovers = 0;
    Microseconds leftoverCpu{};
    std::uint64_t oomKills = 0;
    RealTime started{}; ///< when the job started on the first host
    RealTime ended{};   ///< when the job ended on the last host

    const Receipt& receiptOf(const EndEvent& event) const { return hosts[event.host].receipts[event.receipt]; }
    /// Returns the receipt that explains the end of the job. If no receipt explains the end, the result is any of the receipts.
    const Receipt& explaining() const { return first.event ? receiptOf(*first.event) : hosts.front().receipts.back(); }
    bool operator==(const HostsOfJob&) const = default;
};

/// Returns a text that is the same for all names of a host: "node7" for "node7.example.org" and "NODE7". An address such as
/// 10.0.0.7 has no short form.
std::string keyOfHost(std::string name);

/// Returns the receipts of the newest run among receipts with the same key. Receipts of another cluster, of another user or of
/// another run are left out. If the batch system does not count the runs of a job, a run is a chain of receipts whose times
/// overlap.
std::vector<Receipt> newestRun(std::vector<Receipt> receipts);

/// Puts the receipts together that newestRun() has returned. If a host has several receipts with the same id, hostsOfJob() uses
/// the receipt that says how the job ended. keyOfHost() says which names mean the same host. `receipts` must not be empty.
HostsOfJob hostsOfJob(std::vector<Receipt> receipts);

} // namespace pinfold
