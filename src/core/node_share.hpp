// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "os/topology.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// The whole cores that are kept from jobs, lowest numbers first, where the kernel's own work is. Pure. Error: ConfigInvalid when
/// none would be left.
Result<CpuList> reservedCores(const Topology& topology, const Config::Reserve& reserve);

/// What batch.slice gets of the node: all that the site does not reserve, and protection for what jobs are promised.
class NodeShare {
public:
    explicit NodeShare(Core& core) : core_(core) {}

    /// At start and after each reload: MemoryMax= and AllowedCPUs=. What can't be done is logged, and the jobs run on.
    void apply();
    /// MemoryLow= is the sum of the jobs' memory_low: the kernel protects no more below a cgroup than the cgroup itself has.
    void protect();

    /// Read anew when CPUs come and go. Error: Internal.
    Result<Topology> topology();
    /// What jobs may use, from the cgroup's file ("cpuset.cpus.effective") less what is reserved. Nullopt: this kernel doesn't
    /// say.
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
    std::optional<std::uint64_t> protected_; ///< bytes; unset: what an earlier pinfoldd has set is not known yet
};

} // namespace pinfold
