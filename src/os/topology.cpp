// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/topology.hpp"

#include "base/cpu_list.hpp"
#include "base/parse.hpp"
#include "os/read_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace pinfold {
namespace {

using std::filesystem::path;

std::optional<std::string> readLine(const path& file) {
    auto text = readFile(AT_FDCWD, file.c_str());
    if (text)
        text->erase(std::min(text->find('\n'), text->size()));
    return text;
}

/// Reads a list of CPUs. If the file does not exist, the result is an empty list, as for a NUMA node without CPUs.
CpuList readList(const path& file) {
    auto list = CpuList::parse(readLine(file).value_or(""));
    return list ? *std::move(list) : CpuList();
}

/// Reads a number. Returns nullopt for -1, because the kernel writes -1 if it does not know the number.
std::optional<unsigned> readNumber(const path& file) {
    const auto number = parseUnsigned(readLine(file).value_or(""));
    if (!number || *number > UINT32_MAX)
        return std::nullopt;
    return static_cast<unsigned>(*number);
}

/// Returns the numbers of the directories "<prefix><number>" in ascending order. (The numbers of NUMA nodes and of caches can
/// have gaps.)
std::vector<unsigned> numberedChildren(const path& directory, std::string_view prefix) {
    std::vector<unsigned> numbers;
    std::error_code error;
    for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
        const auto name = it->path().filename().string();
        if (!name.starts_with(prefix))
            continue;
        const auto number = parseUnsigned(std::string_view(name).substr(prefix.size()));
        if (number && *number <= CpuList::kMaxCpu)
            numbers.push_back(static_cast<unsigned>(*number));
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

std::map<unsigned, unsigned> readNodes(const path& directory) {
    std::map<unsigned, unsigned> nodeOf;
    for (const auto node : numberedChildren(directory, "node"))
        for (const auto cpu : readList(directory / ("node" + std::to_string(node)) / "cpulist").numbers())
            nodeOf.emplace(cpu, node);
    return nodeOf;
}

/// Returns the CPU and the other hyper-threads of the CPU's core.
CpuList readSiblings(const path& directory, unsigned cpu, const CpuList& online) {
    auto siblings = readList(directory / "topology/core_cpus_list");
    if (siblings.empty()) // Linux before 5.3 does not have the file core_cpus_list
        siblings = readList(directory / "topology/thread_siblings_list");
    return siblings.intersected(online).united(CpuList::of({cpu}));
}

/// Returns the lowest CPU that shares the CPU's L3 cache. If the CPU has no L3 cache, readL3() uses the CPU's last-level cache.
/// Returns nullopt if the last-level cache belongs to only one core, as on some virtual machines. If readL3() accepted a cache
/// that only one core uses, each core would have a different result.
std::optional<unsigned> readL3(const path& directory, unsigned cpu, const CpuList& siblings, const CpuList& online) {
    unsigned best = 0;
    path bestCache;
    for (const auto index : numberedChildren(directory / "cache", "index")) {
        const auto cache = directory / "cache" / ("index" + std::to_string(index));
        const auto level = readNumber(cache / "level").value_or(0);
        if (best != 3 && (level == 3 || level > best)) {
            best = level;
            bestCache = cache;
        }
    }
    if (best == 0)
        return std::nullopt;
    const auto sharing = readList(bestCache / "shared_cpu_list").intersected(online);
    if (!sharing.contains(cpu) || (best < 3 && siblings.contains(sharing)))
        return std::nullopt;
    return sharing.numbers().front();
}

CpuPlace readPlace(const path& directory, unsigned cpu, const CpuList& online, std::map<unsigned, unsigned>& lowestOfPackage) {
    CpuPlace place{.cpu = cpu};
    place.package = readNumber(directory / "topology/physical_package_id").value_or(0);
    const auto siblings = readSiblings(directory, cpu, online);
    place.core = siblings.numbers().front();
    const auto lowest = lowestOfPackage.emplace(place.package, cpu).first->second;
    place.l3 = readL3(directory, cpu, siblings, online).value_or(lowest);
    return place;
}

} // namespace

CpuList Topology::all() const {
    std::vector<unsigned> numbers;
    for (const auto& place : cpus)
        numbers.push_back(place.cpu);
    return CpuList::of(numbers);
}

Result<Topology> readTopology(const path& root) {
    const auto cpus = root / "sys/devices/system/cpu";
    const auto online = readList(cpus / "online");
    if (online.empty())
        return Error{ErrorCode::Internal,
                     "cannot read the list of online CPUs in " + (cpus / "online").string() + ": is sysfs mounted?"};
    const auto nodes = readNodes(root / "sys/devices/system/node");
    Topology topology;
    std::map<unsigned, unsigned> lowestOfPackage;
    for (const auto cpu : online.numbers()) {
        auto place = readPlace(cpus / ("cpu" + std::to_string(cpu)), cpu, online, lowestOfPackage);
        const auto node = nodes.find(cpu);
        place.node = node == nodes.end() ? 0 : node->second;
        topology.cpus.push_back(place);
    }
    return topology;
}

} // namespace pinfold
