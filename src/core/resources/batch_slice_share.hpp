// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "os/topology.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// The whole cores that are kept from jobs. They are those with the lowest numbers, where the kernel's own work is. Pure. Error:
/// ConfigInvalid when no core would be left for jobs.
Result<CpuList> reservedCores(const Topology& topology, const Config::Reserve& reserve);

/// Gives batch.slice its share of the node: all that the site does not reserve, and protection for the memory that jobs are
/// promised.
class BatchSliceShare {
public:
    explicit BatchSliceShare(Core& core) : core_(core) {}

    /// Sets MemoryMax= and AllowedCPUs=, at start and after each reload. Logs what cannot be set; the jobs run on.
    void apply();
    /// Sets MemoryLow= to the sum of the jobs' memory_low, because the kernel protects no more below a cgroup than the cgroup
    /// itself has.
    void protect();

    /// The node's topology. It is read anew when CPUs come and go. Error: Internal.
    Result<Topology> topology();
    /// What jobs may use: what the cgroup's file (such as "cpuset.cpus.effective") has, without what is reserved. nullopt: this
    /// kernel does not tell.
    std::optional<CpuList> available(const char* file) const;

private:
    std::optional<UnitProperty> memoryProperty() const;
    std::optional<UnitProperty> cpuProperty();
    bool setEarlier(const char* property) const;
    void set(std::vector<UnitProperty> properties) const;

    Core& core_;
    std::string online_; ///< as the kernel lists them
    Topology topology_;
    CpuList reserved_;
    /// The bytes of MemoryLow= that we have set; unset: it is not yet known what an earlier pinfoldd has set.
    std::optional<std::uint64_t> protected_;
};

} // namespace pinfold
