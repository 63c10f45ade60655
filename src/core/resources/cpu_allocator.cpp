// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/resources/cpu_allocator.hpp"

#include "base/parse.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace pinfold {
namespace {

struct CpuCore {
    CpuPlace place;               ///< the place of the core's lowest CPU (package, NUMA node and L3 cache)
    std::vector<unsigned> online; ///< the core's online hyper-threads
    std::vector<unsigned> usable; ///< the online hyper-threads that are available to jobs
    bool taken = false;
    unsigned size = 0; ///< how many of the requested CPUs the core can provide
};

/// A Domain is the whole node, a package of the node, a NUMA node of a package, or an L3 cache of a NUMA node. On every machine,
/// the domains form a tree. The root of the tree is the whole node, and every other domain lies in one larger domain. With
/// sub-NUMA clusters, one L3 cache can serve two NUMA nodes. If an L3 cache serves two NUMA nodes, the tree has a separate L3
/// domain for each of the two NUMA nodes.
struct Domain {
    unsigned number = 0;
    unsigned free = 0;
    std::vector<Domain> parts;         ///< the smaller domains in this domain; empty for an L3 cache
    std::vector<const CpuCore*> cores; ///< the free cores of the domain, the lowest number first
};

struct Placement {
    std::vector<const CpuCore*> cores;
    std::size_t nodes = 0;
    std::size_t l3s = 0;
    /// `room[0]` is the number of free CPUs in the smallest domain that can hold the whole job. Each later element of `room` is
    /// the number of free CPUs in the next larger domain.
    std::vector<unsigned> room;

    bool operator<(const Placement& other) const {
        return std::tie(nodes, l3s, room) < std::tie(other.nodes, other.l3s, other.room);
    }
    void add(const std::vector<const CpuCore*>& more) { cores.insert(cores.end(), more.begin(), more.end()); }
};

/// Returns all cores that are available to jobs. The result contains free cores and cores that jobs have taken.
std::vector<CpuCore> coresForJobs(const Topology& topology, const CpuList& usable, const CpuList& taken,
                                  HyperThreads hyperThreads) {
    std::map<unsigned, CpuCore> all;
    for (const auto& place : topology.cpus) {
        auto& core = all[place.core];
        if (core.online.empty())
            core.place = place;
        core.online.push_back(place.cpu);
        if (usable.contains(place.cpu))
            core.usable.push_back(place.cpu);
        core.taken = core.taken || taken.contains(place.cpu);
    }
    std::vector<CpuCore> cores;
    for (auto& [number, core] : all) {
        const bool whole = core.usable.size() == core.online.size();
        core.size = hyperThreads == HyperThreads::Count ? static_cast<unsigned>(core.usable.size()) : whole ? 1 : 0;
        if (core.size > 0)
            cores.push_back(std::move(core));
    }
    return cores;
}

void insert(Domain& domain, std::span<const unsigned> way, const CpuCore& core) {
    domain.free += core.size;
    domain.cores.push_back(&core);
    if (way.empty())
        return;
    auto part = std::find_if(domain.parts.begin(), domain.parts.end(), [&](const auto& p) { return p.number == way.front(); });
    if (part == domain.parts.end())
        part = domain.parts.insert(domain.parts.end(), Domain{.number = way.front(), .free = 0, .parts = {}, .cores = {}});
    insert(*part, way.subspan(1), core);
}

/// Builds the tree of the free cores. The tree contains pointers to the elements of `cores`, so these elements must not move
/// while the tree exists.
Domain treeOfFree(const std::vector<CpuCore>& cores) {
    Domain machine;
    for (const auto& core : cores)
        if (!core.taken)
            insert(machine, std::array{core.place.package, core.place.node, core.place.l3}, core);
    return machine;
}

/// Chooses some of the cores of one L3 cache. The cores can have different sizes, for example in hybrid processors or if
/// hyper-threads are offline. If every remaining core has more CPUs than the job still needs, pickCores() takes the smallest of
/// these cores.
std::vector<const CpuCore*> pickCores(const std::vector<const CpuCore*>& cores, unsigned wanted) {
    std::vector<const CpuCore*> picked;
    const CpuCore* larger = nullptr;
    for (const auto* core : cores) {
        if (wanted >= core->size) {
            picked.push_back(core);
            wanted -= core->size;
        } else if (!larger || core->size < larger->size) {
            larger = core;
        }
        if (wanted == 0)
            return picked;
    }
    picked.push_back(larger);
    return picked;
}

Placement place(const Domain& domain, unsigned wanted);

std::optional<Placement> bestFit(const std::vector<const Domain*>& parts, unsigned wanted) {
    std::optional<Placement> best;
    for (const auto* part : parts) {
        if (part->free < wanted)
            continue;
        auto placement = place(*part, wanted);
        if (!best || placement < *best)
            best = std::move(placement);
    }
    return best;
}

void measure(Placement& placement) {
    std::set<unsigned> nodes;
    std::set<unsigned> l3s;
    for (const auto* core : placement.cores) {
        nodes.insert(core->place.node);
        l3s.insert(core->place.l3);
    }
    placement.nodes = nodes.size();
    placement.l3s = l3s.size();
}

/// Chooses CPUs from several parts of `domain`, because no single part has enough free CPUs. spread() takes all free CPUs of the
/// part with the most free CPUs, and then does the same with the other parts. As soon as one part has as many free CPUs as the
/// job still needs, spread() takes these CPUs from this part.
Placement spread(const Domain& domain, std::vector<const Domain*> parts, unsigned wanted) {
    Placement placement;
    std::optional<Placement> rest;
    while (!rest) {
        const auto roomiest = std::max_element(parts.begin(), parts.end(), [](auto* a, auto* b) { return a->free < b->free; });
        placement.add((*roomiest)->cores);
        wanted -= (*roomiest)->free;
        parts.erase(roomiest);
        rest = bestFit(parts, wanted);
    }
    placement.add(rest->cores);
    placement.room = {domain.free};
    measure(placement);
    return placement;
}

/// Chooses free cores of `domain`. The sizes of the chosen cores add up to at least `wanted`. The domain must have enough free
/// cores, and `wanted` must be at least 1.
Placement place(const Domain& domain, unsigned wanted) {
    if (domain.parts.empty()) {
        Placement placement{.cores = pickCores(domain.cores, wanted), .room = {domain.free}};
        measure(placement);
        return placement;
    }
    std::vector<const Domain*> parts;
    for (const auto& part : domain.parts)
        parts.push_back(&part);
    if (auto placement = bestFit(parts, wanted)) {
        placement->room.push_back(domain.free);
        return *std::move(placement);
    }
    return spread(domain, std::move(parts), wanted);
}

CpuList memoryNodesOf(const Topology& topology, const CpuList& cpus) {
    std::vector<unsigned> nodes;
    for (const auto& place : topology.cpus)
        if (cpus.contains(place.cpu))
            nodes.push_back(place.node);
    return CpuList::of(nodes);
}

CpuList onlineOf(const Topology& topology) {
    std::vector<unsigned> cpus;
    for (const auto& place : topology.cpus)
        cpus.push_back(place.cpu);
    return CpuList::of(cpus);
}

CpuAllocation allocationOf(const Topology& topology, const std::vector<const CpuCore*>& cores, HyperThreads hyperThreads) {
    std::vector<unsigned> cpus;
    std::vector<unsigned> reserved;
    for (const auto* core : cores) {
        reserved.insert(reserved.end(), core->usable.begin(), core->usable.end());
        const auto end = hyperThreads == HyperThreads::Idle ? core->usable.begin() + 1 : core->usable.end();
        cpus.insert(cpus.end(), core->usable.begin(), end);
    }
    CpuAllocation allocation{.cpus = CpuList::of(cpus), .reserved = CpuList::of(reserved), .memoryNodes = {}};
    allocation.memoryNodes = memoryNodesOf(topology, allocation.cpus);
    return allocation;
}

std::string countedUnits(std::size_t number, HyperThreads hyperThreads) {
    return hyperThreads == HyperThreads::Count ? counted(number, "CPU", "CPUs") : counted(number, "core", "cores");
}

} // namespace

Result<CpuAllocation> allocateCpus(const Topology& topology, const CpuList& usable, const CpuList& taken,
                                   const CpuRequest& request, HyperThreads hyperThreads) {
    const auto cores = coresForJobs(topology, usable, taken, hyperThreads);
    const auto machine = treeOfFree(cores);
    unsigned total = 0;
    for (const auto& core : cores)
        total += core.size;
    if (request.cpus == 0 && !request.exclusive)
        return Error{ErrorCode::LimitInvalid, "0 CPUs requested: request at least 1"};
    if (request.cpus > total || total == 0)
        return Error{ErrorCode::LimitInvalid,
                     fmt::format("{} requested, but jobs can have at most {} on this node",
                                 request.cpus == 0 ? "all CPUs" : countedUnits(request.cpus, hyperThreads),
                                 countedUnits(total, hyperThreads))};
    const auto ours = usable.intersected(onlineOf(topology));
    const auto wanted = request.exclusive ? total : request.cpus;
    if (wanted > machine.free || (request.exclusive && !taken.intersected(ours).empty()))
        return Error{ErrorCode::Busy,
                     fmt::format("{}{} requested, but only {} of {} are free now: try again when jobs have ended",
                                 request.exclusive ? "all " : "", countedUnits(wanted, hyperThreads), machine.free, total)};
    auto allocation = allocationOf(topology, place(machine, wanted).cores, hyperThreads);
    if (request.exclusive)
        allocation.reserved = ours;
    return allocation;
}

Result<CpuAllocation> describeCpus(const Topology& topology, const CpuList& cpus) {
    if (cpus.empty())
        return Error{ErrorCode::LimitInvalid, "the list of CPUs is empty: name at least one CPU"};
    const auto missing = cpus.without(onlineOf(topology));
    if (!missing.empty())
        return Error{
            ErrorCode::LimitInvalid,
            fmt::format("CPUs {} do not exist on this node, or are not online: use CPUs that are online", missing.toString())};
    return CpuAllocation{.cpus = cpus, .reserved = cpus, .memoryNodes = memoryNodesOf(topology, cpus)};
}

} // namespace pinfold
