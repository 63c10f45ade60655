// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the node's CPUs are: Documentation/admin-guide/cputopology.rst, Documentation/ABI/stable/sysfs-devices-node and
// Documentation/ABI/testing/sysfs-devices-system-cpu (cache) of the kernel.
#pragma once

#include "base/cpu_list.hpp"
#include "base/result.hpp"

#include <filesystem>
#include <vector>

namespace pinfold {

struct CpuPlace {
    unsigned cpu = 0;     ///< 0 to CpuList::kMaxCpu
    unsigned package = 0; ///< 0 if the kernel does not know it (-1)
    unsigned core = 0;    ///< unique on the node: the core's lowest online CPU; CPUs with the same value are its hyper-threads
    unsigned l3 = 0;      ///< unique on the node: the lowest online CPU of the L3 cache; without an L3, of the package
    unsigned node = 0;    ///< NUMA node; 0 on a kernel without NUMA

    bool operator==(const CpuPlace&) const = default;
};

struct Topology {
    std::vector<CpuPlace> cpus; ///< the online CPUs, sorted by number

    CpuList all() const;
    bool operator==(const Topology&) const = default;
};

/// `root`: the prefix of /sys. For what the kernel does not tell, all CPUs count as equally near. Only the list of online CPUs
/// must exist. Error: Internal when it does not.
Result<Topology> readTopology(const std::filesystem::path& root = "/");

} // namespace pinfold
