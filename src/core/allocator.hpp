// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "core/cpu_allocator.hpp"
#include "core/node_share.hpp"
#include "model/allocation.hpp"

namespace pinfold {

/// Gives parts of the node to one job each. What is given is in the jobs' records, and free when these are gone.
class Allocator {
public:
    Allocator(Core& core, NodeShare& share) : core_(core), share_(share) {}

    struct Grant {
        Allocation allocation;
        CpuList memoryNodes; ///< those of the CPUs
    };
    /// Errors: LimitInvalid for what this node doesn't have; Busy for what other jobs have now; InvalidArgument.
    Result<Grant> allocate(const AllocationRequest& request) const;

    /// What the job may open; nullopt: everything. From the configuration as it is now.
    std::optional<DeviceRules> devicesOf(const JobRecord& record) const;

private:
    Result<CpuAllocation> cpus(const AllocationRequest& request) const;
    Result<CpuList> gpus(const AllocationRequest& request) const;
    Result<CpuList> freeGpus(std::uint64_t wanted) const;
    Result<void> alone(bool exclusive) const;
    std::map<std::string, std::string> environment(const CpuList& gpus) const;

    Core& core_;
    NodeShare& share_;
};

} // namespace pinfold
