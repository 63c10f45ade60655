// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/resources/allocator.hpp"

#include "base/parse.hpp"

#include <fmt/core.h>

namespace pinfold {

Result<void> Allocator::alone(bool exclusive) const {
    for (const auto& [key, job] : core_.registry.all())
        if (exclusive || job->record.allocation.exclusive)
            return Error{ErrorCode::Busy,
                         exclusive ? fmt::format("an exclusive job needs the node for itself, but job '{}' is live", key)
                                   : fmt::format("an exclusive job has the node for itself: job '{}' is live", key)};
    return {};
}

Result<CpuAllocation> Allocator::cpus(const AllocationRequest& request) const {
    const auto topology = share_.topology();
    if (!topology)
        return topology.error();
    if (request.cpuList)
        return describeCpus(*topology, *request.cpuList);
    CpuList taken;
    for (const auto& [key, job] : core_.registry.all())
        taken = taken.united(job->record.allocation.reserved);
    return allocateCpus(*topology, share_.available("cpuset.cpus.effective").value_or(topology->all()), taken,
                        {.cpus = static_cast<unsigned>(request.cpus.value_or(0)), .exclusive = request.exclusive},
                        core_.context.config.allocation.hyperThreads);
}

Result<CpuList> Allocator::gpus(const AllocationRequest& request) const {
    if (!request.gpuList)
        return freeGpus(*request.gpus);
    const auto count = core_.context.config.gpus.devices.size();
    if (const auto numbers = request.gpuList->numbers(); !numbers.empty() && numbers.back() >= count)
        return Error{ErrorCode::LimitInvalid,
                     fmt::format("GPUs {} requested, but this node has {} ([gpus] in pinfold.toml(5)), counted from 0",
                                 request.gpuList->toString(), count)};
    return *request.gpuList;
}

Result<CpuList> Allocator::freeGpus(std::uint64_t wanted) const {
    const auto count = core_.context.config.gpus.devices.size();
    CpuList taken;
    for (const auto& [key, job] : core_.registry.all())
        taken = taken.united(job->record.allocation.gpus);
    std::vector<unsigned> given;
    for (unsigned gpu = 0; gpu < count && given.size() < wanted; ++gpu)
        if (!taken.contains(gpu))
            given.push_back(gpu);
    const auto asked = counted(wanted, "GPU", "GPUs") + " requested, ";
    if (wanted > count)
        return Error{ErrorCode::LimitInvalid, fmt::format("{}but this node has {} ([gpus] in pinfold.toml(5))", asked, count)};
    if (wanted > given.size())
        return Error{ErrorCode::Busy,
                     fmt::format("{}but only {} are free now: try again when jobs have ended", asked, given.size())};
    return CpuList::of(given);
}

std::map<std::string, std::string> Allocator::environment(const CpuList& gpus) const {
    const auto& config = core_.context.config.gpus;
    std::map<std::string, std::string> variables;
    std::string names;
    unsigned position = 0; // a program sees only the GPUs that it is allowed to open, and counts these GPUs from 0
    for (const auto gpu : gpus.numbers())
        names += (names.empty() ? "" : ",") + (config.ids.empty() ? std::to_string(position++) : config.ids.at(gpu));
    for (const auto& variable : config.environment)
        variables[variable] = names;
    return variables;
}

Result<Allocator::Grant> Allocator::allocate(const AllocationRequest& request) const {
    if (auto valid = validate(request); !valid)
        return valid.error();
    if (auto free = alone(request.exclusive); !free)
        return free.error();
    Grant grant;
    grant.allocation.exclusive = request.exclusive;
    if (request.cpus || request.cpuList || request.exclusive) {
        auto given = cpus(request);
        if (!given)
            return given.error();
        grant.allocation.cpus = std::move(given->cpus);
        grant.allocation.reserved = std::move(given->reserved);
        grant.memoryNodes = std::move(given->memoryNodes);
    }
    if (request.gpus || request.gpuList) {
        auto given = gpus(request);
        if (!given)
            return given.error();
        grant.allocation.gpus = std::move(*given);
        grant.allocation.environment = environment(grant.allocation.gpus);
    }
    return grant;
}

std::optional<DeviceRules> Allocator::devicesOf(const JobRecord& record) const {
    const auto& config = core_.context.config;
    if (!record.limits.deviceProfile && config.gpus.devices.empty())
        return std::nullopt;
    DeviceRules rules;
    const auto add = [&rules](const DeviceRules& more) { rules.insert(rules.end(), more.begin(), more.end()); };
    // A reload can remove a device profile or a GPU from the configuration. The job gets no devices for a removed profile or a
    // removed GPU.
    if (record.limits.deviceProfile)
        if (const auto profile = config.devices.find(*record.limits.deviceProfile); profile != config.devices.end())
            add(profile->second);
    if (!record.allocation.gpus.empty())
        add(config.gpus.common);
    for (const auto gpu : record.allocation.gpus.numbers())
        if (gpu < config.gpus.devices.size())
            add(config.gpus.devices[gpu]);
    return rules;
}

} // namespace pinfold
