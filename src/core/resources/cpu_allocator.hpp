// SPDX-License-Identifier: LGPL-2.1-or-later
// Chooses the CPUs that a job gets. The functions in cpu_allocator.cpp are pure: they keep no variables between calls and read no
// files. The caller reads the topology, and remembers which CPUs are taken.
#pragma once

#include "base/cpu_list.hpp"
#include "base/result.hpp"
#include "model/allocation.hpp"
#include "os/topology.hpp"

namespace pinfold {

struct CpuRequest {
    unsigned cpus = 0;      ///< the number of CPUs, at least 1; with `exclusive`, 0 means all CPUs that exist
    bool exclusive = false; ///< the job needs all usable CPUs; allocateCpus() refuses the request if one of these CPUs is taken
};

struct CpuAllocation {
    CpuList cpus; ///< the job's CPUs, at least as many as the job asked for
    /// pinfoldd gives no other job the CPUs in `reserved`. With `exclusive`, `reserved` contains all usable CPUs. Without
    /// `exclusive`, `reserved` contains `cpus`. With HyperThreads::Idle, `reserved` contains `cpus` and all other hyper-threads
    /// of the same cores.
    CpuList reserved;
    CpuList memoryNodes; ///< the NUMA nodes of `cpus`

    bool operator==(const CpuAllocation&) const = default;
};

/// Chooses whole cores for a job. If one hyper-thread of a core is taken, the core is not free. A core can have hyper-threads
/// that are not available to jobs. With HyperThreads::Count, a job can get the usable hyper-threads of a core, even if other
/// hyper-threads of the core are unusable. With HyperThreads::Share and HyperThreads::Idle, no job gets a core with unusable
/// hyper-threads. If the CPUs of one L3 cache suffice for the job, the job gets CPUs of only this L3 cache. If no L3 cache has
/// enough free CPUs, the job gets CPUs of one NUMA node. If no NUMA node has enough free CPUs, the job gets CPUs of one package.
/// allocateCpus() first prefers the place with the fewest NUMA nodes. Among places with equally many NUMA nodes, allocateCpus()
/// prefers the place with the fewest L3 caches. Among places with equally many NUMA nodes and L3 caches, allocateCpus() prefers
/// the place with the fewest free CPUs. allocateCpus() fills small places first, so that large places stay free for large jobs.
/// If several places are equally good, allocateCpus() takes the place with the lowest CPU numbers. The argument `usable` lists
/// the node's CPUs that are available to jobs. The argument `taken` lists the CPUs that other jobs have reserved. For equal
/// arguments, allocateCpus() always returns the same result. The error is LimitInvalid if the request asks for no CPUs, or for
/// more CPUs than are available to jobs on this node. The error is Busy if the request asks for more CPUs than are free now.
Result<CpuAllocation> allocateCpus(const Topology& topology, const CpuList& usable, const CpuList& taken,
                                   const CpuRequest& request, HyperThreads hyperThreads);

/// Returns an allocation that contains `cpus` and the NUMA nodes of `cpus`. The caller of describeCpus() passes CPUs that the
/// batch system has already chosen. If `cpus` is empty, the error is LimitInvalid. If a CPU in `cpus` does not exist or is
/// offline, the error is LimitInvalid. The error message contains the numbers of the CPUs that do not exist or are offline.
Result<CpuAllocation> describeCpus(const Topology& topology, const CpuList& cpus);

} // namespace pinfold
