// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/resources/batch_slice_share.hpp"

#include "base/parse.hpp"
#include "core/report/events.hpp"
#include "os/read_file.hpp"

#include <fmt/core.h>

#include <fcntl.h>

#include <algorithm>
#include <map>

namespace pinfold {
namespace {

std::string onlineCpus(const std::filesystem::path& root) {
    return readFile(AT_FDCWD, (root / "sys/devices/system/cpu/online").c_str()).value_or("");
}

} // namespace

Result<CpuList> reservedCores(const Topology& topology, const Config::Reserve& reserve) {
    std::map<unsigned, std::vector<unsigned>> cores;
    for (const auto& place : topology.cpus)
        cores[place.core].push_back(place.cpu);
    std::vector<unsigned> reserved;
    const auto wanted = reserve.of(topology.cpus.size());
    for (const auto& [core, cpus] : cores)
        if (reserved.size() < wanted)
            reserved.insert(reserved.end(), cpus.begin(), cpus.end());
    if (reserved.size() == topology.cpus.size())
        return Error{ErrorCode::ConfigInvalid,
                     fmt::format("node.reserve_cpus leaves no CPU for jobs: the node has {} CPUs", topology.cpus.size())};
    return CpuList::of(reserved);
}

std::optional<std::uint64_t> BatchSliceShare::memoryOfNode() const {
    // proc(5) describes the line MemTotal.
    const auto text = readFile(AT_FDCWD, (core_.context.root / "proc/meminfo").c_str()).value_or("");
    constexpr std::string_view kLabel = "MemTotal:";
    const auto label = text.find(kLabel);
    if (label == std::string::npos)
        return std::nullopt;
    const auto digits = text.find_first_not_of(' ', label + kLabel.size());
    const auto kib = parseUnsigned(std::string_view(text).substr(digits, text.find(' ', digits) - digits));
    return kib ? std::optional(*kib * 1024) : std::nullopt;
}

std::optional<std::uint64_t> BatchSliceShare::memoryKept(std::uint64_t total) const {
    const auto batch = core_.context.cgroups.open("/" + std::string(kBatchSlice));
    if (!batch) {
        const auto& reserve = core_.context.config.node.memory;
        return reserve && reserve->of(total) < total ? std::optional(reserve->of(total)) : std::nullopt;
    }
    const auto limit = batch->read("memory.max"); // without the memory controller, the file memory.max does not exist
    if (!limit)
        return std::nullopt;
    const auto bytes = parseUnsigned(*limit); // the file contains "max" if batch.slice has no limit
    return bytes ? total - std::min(total, *bytes) : 0;
}

Result<Topology> BatchSliceShare::topology() {
    auto online = onlineCpus(core_.context.root);
    if (online == online_ && !online.empty())
        return topology_;
    auto read = readTopology(core_.context.root);
    if (!read)
        return read;
    online_ = std::move(online);
    topology_ = *read;
    return read;
}

std::optional<CpuList> BatchSliceShare::available(const char* file) const {
    const auto batch = core_.context.cgroups.open("/" + std::string(kBatchSlice));
    const auto root = core_.context.cgroups.open("/");
    auto text = batch ? batch->read(file) : std::nullopt;
    if (!text || text->empty())
        text = root ? root->read(file) : std::nullopt;
    const auto list = CpuList::parse(text.value_or(""));
    if (!list)
        return std::nullopt;
    // Before the first job starts, no cgroup shows which CPUs are reserved, so available() removes the reserved CPUs.
    return std::string_view(file).starts_with("cpuset.cpus") ? list->without(reserved_) : *list;
}

/// Returns true if an earlier pinfoldd has set the property `property` of batch.slice. For each property that was set at run
/// time, systemd has a file below system.control. A new pinfoldd learns from the files below system.control which properties
/// are set.
bool BatchSliceShare::setEarlier(const char* property) const {
    std::error_code ignored;
    return std::filesystem::exists(
        core_.context.root / "run/systemd/system.control/batch.slice.d" / (std::string("50-") + property + ".conf"), ignored);
}

std::optional<UnitProperty> BatchSliceShare::memoryProperty() const {
    const auto& reserve = core_.context.config.node.memory;
    if (!reserve)
        return setEarlier("MemoryMax") ? std::optional(UnitProperty{"MemoryMax", kInfinity}) : std::nullopt;
    const auto total = memoryOfNode();
    if (!total || reserve->of(*total) >= *total) {
        logNodeWarning(core_.context, "node.reserve_memory leaves no memory for jobs: batch.slice stays as it is");
        return std::nullopt;
    }
    return UnitProperty{"MemoryMax", *total - reserve->of(*total)};
}

std::optional<UnitProperty> BatchSliceShare::cpuProperty() {
    const auto& reserve = core_.context.config.node.cpus;
    reserved_ = {};
    if (!reserve && !setEarlier("AllowedCPUs"))
        return std::nullopt;
    // If the site does not reserve CPUs any more, pinfoldd sets AllowedCPUs= to all CPUs. If AllowedCPUs= became an empty list,
    // systemd 252 would not change the cgroup.
    const auto cpus = topology();
    const auto reserved = cpus ? reservedCores(*cpus, reserve.value_or(Config::Reserve{})) : Result<CpuList>(cpus.error());
    if (!reserved) {
        logNodeWarning(core_.context, reserved.error().message + ": batch.slice stays as it is");
        return std::nullopt;
    }
    reserved_ = *reserved;
    return UnitProperty{"AllowedCPUs", cpus->all().without(reserved_).toBitmap()};
}

void BatchSliceShare::apply() {
    std::vector<UnitProperty> properties;
    for (auto property : {memoryProperty(), cpuProperty()})
        if (property)
            properties.push_back(std::move(*property));
    set(std::move(properties));
}

void BatchSliceShare::protect() {
    std::uint64_t sum = 0;
    for (const auto& [key, job] : core_.registry.all()) {
        const auto low = job->record.limits.memoryLow.value_or(0);
        sum = low > kInfinity - sum ? kInfinity : sum + low;
    }
    const bool asItIs = protected_ ? sum == *protected_ : sum == 0 && !setEarlier("MemoryLow");
    protected_ = sum;
    if (!asItIs)
        set({{"MemoryLow", sum}});
}

void BatchSliceShare::set(std::vector<UnitProperty> properties) const {
    if (properties.empty())
        return;
    core_.context.systemd.setProperties(std::string(kBatchSlice), std::move(properties), [this](const SystemdOutcome& outcome) {
        if (outcome)
            logNodeWarning(core_.context, "systemd did not give batch.slice its share of the node: " + outcome->message);
    });
}

} // namespace pinfold
