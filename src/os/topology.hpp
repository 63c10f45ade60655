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
    unsigned package = 0; ///< 0 where the kernel doesn't know (-1)
    unsigned core = 0;    ///< unique over the node, the core's lowest online CPU: those with an equal one are its hyper-threads
    unsigned l3 = 0;      ///< unique over the node, the L3's lowest online CPU; the package's lowest where there is none
    unsigned node = 0;    ///< NUMA node; 0 on a kernel without NUMA

    bool operator==(const CpuPlace&) const = default;
};

struct Topology {
    std::vector<CpuPlace> cpus; ///< the online ones, sorted by number

    CpuList all() const;
    bool operator==(const Topology&) const = default;
};

/// `root` is prefixed to /sys. What the kernel leaves out is made up so that CPUs are equally near; only the list of online CPUs
/// must be there. Error: Internal when it is not.
Result<Topology> readTopology(const std::filesystem::path& root = "/");

} // namespace pinfold
