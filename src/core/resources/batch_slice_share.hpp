// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "os/topology.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// Returns the CPUs of the whole cores that jobs may not use. These are the cores with the lowest numbers, where the kernel does
/// its own work. reservedCores() is a pure function. Error: ConfigInvalid if no core would be left for jobs.
Result<CpuList> reservedCores(const Topology& topology, const Config::Reserve& reserve);

/// Gives batch.slice its share of the node: all that the site does not reserve. Also protects the memory that the site promises
/// to jobs.
class BatchSliceShare {
public:
    explicit BatchSliceShare(Core& core) : core_(core) {}

    /// Sets MemoryMax= and AllowedCPUs= of batch.slice, at start and after each reload. If systemd refuses a value, apply() logs
    /// that, and the jobs run on.
    void apply();
    /// Sets MemoryLow= of batch.slice to the sum of the jobs' memory_low, because the kernel protects no more memory below a
    /// cgroup than the cgroup itself has protected.
    void protect();

    /// Returns the node's topology, and reads it anew when CPUs have come or gone. Error: Internal.
    Result<Topology> topology();
    /// Returns the CPUs or memory nodes that jobs may use: those in the cgroup's file `file` (such as "cpuset.cpus.effective"),
    /// without the reserved CPUs. nullopt means that this kernel does not tell.
    std::optional<CpuList> available(const char* file) const;

private:
    std::optional<UnitProperty> memoryProperty() const;
    std::optional<UnitProperty> cpuProperty();
    bool setEarlier(const char* property) const;
    void set(std::vector<UnitProperty> properties) const;

    Core& core_;
    std::string online_; ///< the online CPUs as the kernel lists them
    Topology topology_;
    CpuList reserved_;
    /// The bytes of MemoryLow= that this pinfoldd has set. The value is unset as long as pinfoldd does not know what an earlier
    /// pinfoldd has set.
    std::optional<std::uint64_t> protected_;
};

} // namespace pinfold
