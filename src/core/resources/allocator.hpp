// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "core/resources/batch_slice_share.hpp"
#include "core/resources/cpu_allocator.hpp"
#include "model/allocation.hpp"

namespace pinfold {

/// Gives CPUs and GPUs of the node to jobs. Allocator never gives the same CPU or GPU to two live jobs. The records of the live
/// jobs say which CPUs and GPUs are taken. The CPUs and GPUs of a job are free again when pinfoldd has removed the job's
/// record.
class Allocator {
public:
    Allocator(Core& core, BatchSliceShare& share) : core_(core), share_(share) {}

    struct Grant {
        Allocation allocation;
        CpuList memoryNodes; ///< the NUMA nodes of the allocated CPUs
    };
    /// If the node does not have the CPUs or GPUs of `request`, the error is LimitInvalid. If other jobs have reserved the CPUs
    /// or GPUs of `request`, the error is Busy. If two members of `request` exclude each other, the error is InvalidArgument.
    Result<Grant> allocate(const AllocationRequest& request) const;

    /// Returns the devices that the job is allowed to open according to the present configuration. The result is nullopt if the
    /// job is allowed to open all devices.
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
