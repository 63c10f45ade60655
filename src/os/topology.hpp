// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the cores, caches and NUMA nodes of the node's CPUs. The kernel's documentation describes the files that readTopology()
// reads: Documentation/admin-guide/cputopology.rst, Documentation/ABI/stable/sysfs-devices-node and
// Documentation/ABI/testing/sysfs-devices-system-cpu (cache).
#pragma once

#include "base/cpu_list.hpp"
#include "base/result.hpp"

#include <filesystem>
#include <vector>

namespace pinfold {

struct CpuPlace {
    unsigned cpu = 0;     ///< the number of the CPU, 0 to CpuList::kMaxCpu
    unsigned package = 0; ///< the number of the CPU's package (socket); 0 if the kernel does not know the package
    /// The lowest online CPU of the core. `core` identifies the core on the node. All hyper-threads of a core have the same value
    /// of `core`.
    unsigned core = 0;
    /// The lowest online CPU that uses the L3 cache. `l3` identifies the cache on the node. Without an L3 cache, `l3` refers to
    /// the last-level cache if several cores share the last-level cache. If no cores share a cache, `l3` is the lowest online CPU
    /// of the package.
    unsigned l3 = 0;
    unsigned node = 0; ///< the number of the NUMA node; 0 on a kernel without NUMA

    bool operator==(const CpuPlace&) const = default;
};

struct Topology {
    std::vector<CpuPlace> cpus; ///< the online CPUs, sorted by number

    CpuList all() const;
    bool operator==(const Topology&) const = default;
};

/// Reads the topology. The directory `root` contains "sys", and is "/" except in tests. If the kernel reports no cores,
/// readTopology() treats each CPU as a separate core. If the kernel reports no caches, readTopology() assumes that all CPUs of a
/// package share one cache. If the kernel reports no NUMA nodes, readTopology() assigns all CPUs to node 0. readTopology() needs
/// only the list of online CPUs, and fails with Internal if this list is missing.
Result<Topology> readTopology(const std::filesystem::path& root = "/");

} // namespace pinfold
