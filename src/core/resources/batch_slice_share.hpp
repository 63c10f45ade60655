// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "os/topology.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// Returns the CPUs of the whole cores that the site reserves for itself. The kernel does its own work on the cores with the
/// lowest numbers, so reservedCores() reserves these cores. The function reservedCores() is pure. The error is ConfigInvalid if
/// no core would be left for jobs.
Result<CpuList> reservedCores(const Topology& topology, const Config::Reserve& reserve);

/// Limits batch.slice to the CPUs and the memory that the site does not reserve for itself. BatchSliceShare sets the memory
/// protection of batch.slice to the sum of memory_low of all jobs.
class BatchSliceShare {
public:
    explicit BatchSliceShare(Core& core) : core_(core) {}

    /// Sets MemoryMax= and AllowedCPUs= of batch.slice. Call apply() at the start of pinfoldd and after each reload. If systemd
    /// refuses a value, apply() writes a warning, and the jobs continue to run.
    void apply();
    /// Sets MemoryLow= of batch.slice to the sum of memory_low of all jobs. The memory protection of a cgroup cannot exceed the
    /// protection of its parent. Without a call of protect(), the memory protection of jobs has no effect.
    void protect();

    /// Returns the topology of the node. If CPUs have become online or offline, topology() reads the topology from the kernel
    /// again. Error: Internal.
    Result<Topology> topology();
    /// Returns the CPUs or memory nodes that are available to jobs. available() reads the list from the file `file` of a cgroup,
    /// for example "cpuset.cpus.effective", and removes the reserved CPUs. If the file `file` does not exist, the result is
    /// nullopt.
    std::optional<CpuList> available(const char* file) const;

    /// Returns the size of the node's memory in bytes, or nullopt if memoryOfNode() cannot read the size from the kernel.
    std::optional<std::uint64_t> memoryOfNode() const;
    /// Returns how many bytes of the node's memory are not available to jobs. The argument `total` is the size of the node's
    /// memory in bytes. memoryKept() computes the result from the memory limit in the cgroup of batch.slice. Before the first job
    /// has started, batch.slice has no cgroup, so memoryKept() uses node.reserve_memory. If pinfoldd cannot find out how much
    /// memory is not available to jobs, the result is nullopt.
    std::optional<std::uint64_t> memoryKept(std::uint64_t total) const;

private:
    std::optional<UnitProperty> memoryProperty() const;
    std::optional<UnitProperty> cpuProperty();
    bool setEarlier(const char* property) const;
    void set(std::vector<UnitProperty> properties) const;

    Core& core_;
    std::string online_; ///< the kernel's list of the online CPUs
    Topology topology_;
    CpuList reserved_;
    /// The value of MemoryLow=, in bytes, that this pinfoldd has set. `protected_` is unset until pinfoldd has set MemoryLow= for
    /// the first time.
    std::optional<std::uint64_t> protected_;
};

} // namespace pinfold
