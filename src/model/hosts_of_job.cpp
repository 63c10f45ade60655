// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/hosts_of_job.hpp"

#include "model/receipt_json.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace pinfold {
namespace {

// After a new installation, for example, a batch system can use an old job number for a new job.
constexpr Microseconds kNumbersReused = 7 * 24h;

/// The receipts of an earlier pinfold do not contain the name of the host. hostOf() treats each receipt without a host name as a
/// separate host.
std::string hostOf(const Receipt& receipt) {
    const auto name = receipt.origin.host.value_or("");
    return name.empty() ? "\n" + receipt.id : keyOfHost(name);
}

/// If two receipts have the same receipt id, hostsOfJob() prefers the receipt with an exit state. pinfoldd writes a receipt
/// without an exit state, and adds the exit state when somebody reports the exit state.
bool isBetter(const Receipt& receipt, const Receipt& than) {
    if (receipt.exit.known() != than.exit.known())
        return receipt.exit.known();
    return !(receipt == than) && encode(receipt) < encode(than);
}

void useName(HostOfJob& host, const std::string& name) {
    if (host.name.empty() || std::tuple(name.size(), name) < std::tuple(host.name.size(), host.name))
        host.name = name;
}

template <class T> std::optional<T> highest(std::optional<T> a, std::optional<T> b) {
    return a && b ? std::max(a, b) : a ? a : b;
}

void summarize(HostOfJob& host) {
    std::ranges::sort(host.receipts, {}, [](const Receipt& receipt) { return std::tie(receipt.started, receipt.id); });
    host.cpu = 0us;
    for (const auto& receipt : host.receipts) {
        const auto& usage = receipt.usage;
        useName(host, receipt.origin.host.value_or(""));
        host.ended = std::max(host.ended, processesEnded(receipt));
        if (host.cpu)
            host.cpu =
                usage.cpuUser && usage.cpuSystem ? std::optional(*host.cpu + *usage.cpuUser + *usage.cpuSystem) : std::nullopt;
        host.memoryNeed = highest(host.memoryNeed, usage.memoryNeed);
        host.memoryPeak = highest(host.memoryPeak, usage.memoryPeak);
        host.tasks += receipt.tasks;
        host.leftovers += receipt.leftovers.count;
        host.oomKills += std::max<std::uint64_t>(usage.oomKills.value_or(0), receipt.oom ? 1 : 0);
    }
}

std::vector<HostOfJob> groupByHost(std::vector<Receipt> receipts) {
    std::map<std::string, std::map<std::string, Receipt>> byHost;
    for (auto& receipt : receipts) {
        auto& known = byHost[hostOf(receipt)];
        // If the map already has this id, try_emplace() leaves `receipt` unchanged.
        const auto [place, isNew] = known.try_emplace(std::string(receipt.id), std::move(receipt));
        if (!isNew && isBetter(receipt, place->second))
            place->second = std::move(receipt);
    }
    std::vector<HostOfJob> hosts;
    for (auto& [key, byId] : byHost) {
        auto& host = hosts.emplace_back();
        for (auto& [id, receipt] : byId)
            host.receipts.push_back(std::move(receipt));
        summarize(host);
    }
    return hosts;
}

template <class Figure> std::optional<Spread> spreadOf(const std::vector<HostOfJob>& hosts, Figure figure) {
    std::optional<Spread> spread;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const std::optional<std::uint64_t> value = figure(hosts[i]);
        if (!value)
            continue;
        if (!spread)
            spread = Spread{.most = *value, .least = *value, .mostHost = i, .leastHost = i};
        ++spread->hosts;
        spread->total += *value;
        if (*value > spread->most)
            std::tie(spread->most, spread->mostHost) = std::tuple(*value, i);
        if (*value < spread->least)
            std::tie(spread->least, spread->leastHost) = std::tuple(*value, i);
    }
    return spread;
}

/// Finds the hosts from which `job` contains no receipt. Some receipts do not list the job's hosts. Other receipts list only the
/// first hosts of the job.
void findMissing(HostsOfJob& job) {
    std::set<std::string> there;
    std::map<std::string, std::string> named;
    std::optional<std::uint64_t> count;
    for (const auto& host : job.hosts)
        for (const auto& receipt : host.receipts) {
            there.insert(hostOf(receipt));
            count = highest(count, receipt.identity.nodeCount);
            for (const auto& node : receipt.identity.nodes)
                if (const auto [place, isNew] = named.try_emplace(keyOfHost(node), node); !isNew)
                    place->second = std::min(place->second, node);
        }
    const auto all = std::max<std::uint64_t>(count.value_or(0), named.size());
    const auto missing = all > there.size() ? all - there.size() : 0;
    for (const auto& [key, name] : named)
        if (!there.contains(key))
            job.missing.push_back(name);
    if (job.missing.size() > missing) // the hosts have other names in the batch system than in the receipts
        job.missing.clear();
    job.missingUnnamed = missing - job.missing.size();
}

HostRole roleOf(const HostsOfJob& job, std::size_t host, const std::vector<bool>& ofItself) {
    const auto& first = job.first.event;
    if (!first)
        return HostRole::After;
    if (host == first->host)
        return HostRole::First;
    if (ofItself[host])
        return HostRole::OfItself;
    return timeBetween(job.hosts[host].ended, first->at) > kClockTolerance ? HostRole::Before : HostRole::After;
}

void assignRoles(HostsOfJob& job, const EndSearch& search) {
    std::vector<bool> ofItself(job.hosts.size());
    for (const auto& event : search.events())
        if (event.decides && isOfItself(event.kind))
            ofItself[event.host] = true;
    for (std::size_t i = 0; i < job.hosts.size(); ++i) {
        auto& host = job.hosts[i];
        host.role = roleOf(job, i, ofItself);
        if (!job.first.event || host.role != HostRole::After)
            continue;
        const auto delay = timeBetween(job.first.event->at, host.ended);
        auto& after = job.after;
        after.earliest = after.hosts == 0 ? delay : std::min(after.earliest, delay);
        after.latest = std::max(after.latest, delay);
        ++after.hosts;
    }
}

void addTotals(HostsOfJob& job) {
    job.started = job.hosts.front().receipts.front().started;
    for (const auto& host : job.hosts) {
        job.tasks += host.tasks;
        job.leftovers += host.leftovers;
        job.oomKills += host.oomKills;
        for (const auto& receipt : host.receipts) {
            job.leftoverCpu += receipt.leftovers.cpu;
            job.started = std::min(job.started, receipt.started);
            job.ended = std::max(job.ended, receipt.ended);
        }
    }
    job.cpu =
        spreadOf(job.hosts, [](const HostOfJob& host) { return host.cpu ? std::optional(toUsec(*host.cpu)) : std::nullopt; });
    job.memoryNeed = spreadOf(job.hosts, [](const HostOfJob& host) { return host.memoryNeed; });
    job.memoryPeak = spreadOf(job.hosts, [](const HostOfJob& host) { return host.memoryPeak; });
}

auto ownerAndRun(const Receipt& receipt) { return std::tie(receipt.origin.cluster, receipt.uid, receipt.identity.run); }

} // namespace

std::string keyOfHost(std::string name) {
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool isAddress = name.find_first_not_of("0123456789.") == std::string::npos || name.find(':') != std::string::npos;
    return isAddress ? name : name.substr(0, name.find('.'));
}

std::vector<Receipt> newestRun(std::vector<Receipt> receipts) {
    if (receipts.empty())
        return {};
    std::ranges::sort(receipts, {}, [](const Receipt& receipt) { return std::tie(receipt.started, receipt.id); });
    const auto newest = receipts.back();
    const auto gap = newest.identity.run ? kNumbersReused : kClockTolerance;
    std::vector<Receipt> run;
    RealTime ended{};
    for (auto& receipt : receipts) {
        if (ownerAndRun(receipt) != ownerAndRun(newest))
            continue;
        if (timeBetween(ended, receipt.started) > gap)
            run.clear();
        ended = std::max(ended, receipt.ended);
        run.push_back(std::move(receipt));
    }
    return run;
}

HostsOfJob hostsOfJob(std::vector<Receipt> receipts) {
    HostsOfJob job;
    job.hosts = groupByHost(std::move(receipts));
    EndSearch search;
    for (std::size_t host = 0; host < job.hosts.size(); ++host)
        for (std::size_t i = 0; i < job.hosts[host].receipts.size(); ++i)
            search.add(job.hosts[host].receipts[i], host, i);
    job.first = search.first();
    assignRoles(job, search);
    addTotals(job);
    findMissing(job);
    return job;
}

} // namespace pinfold
