// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "core/resources/batch_slice_share.hpp"
#include "core/resources/cpu_allocator.hpp"
#include "model/allocation.hpp"

namespace pinfold {

/// Gives parts of the node (CPUs, GPUs) to one job each. The records of the jobs say which parts are given. A part is free when
/// the record of its job is gone.
class Allocator {
public:
    Allocator(Core& core, BatchSliceShare& share) : core_(core), share_(share) {}

    struct Grant {
        Allocation allocation;
        CpuList memoryNodes; ///< the NUMA nodes of the CPUs
    };
    /// Errors: LimitInvalid if this node does not have what `request` asks for; Busy if other jobs have it now; InvalidArgument.
    Result<Grant> allocate(const AllocationRequest& request) const;

    /// Returns the devices that the job may open by the present configuration. nullopt means that the job may open all devices.
    std::optional<DeviceRules> devicesOf(const JobRecord& record) const;

private:
    Result<CpuAllocation> cpus(const AllocationRequest& request) const;
    Result<CpuList> gpus(const AllocationRequest& request) const;
    Result<CpuList> freeGpus(std::uint64_t wanted) const;
    Result<void> alone(bool exclusive) const;
    std::map<std::string, std::string> environment(const CpuList& gpus) const;

    Core& core_;
    BatchSliceShare& share_;
};

} // namespace pinfold
