// SPDX-License-Identifier: LGPL-2.1-or-later
// Chooses the CPUs that a job gets. The code has no state and reads no files. The caller reads the topology, and remembers
// which CPUs are taken.
#pragma once

#include "base/cpu_list.hpp"
#include "base/result.hpp"
#include "model/allocation.hpp"
#include "os/topology.hpp"

namespace pinfold {

struct CpuRequest {
    unsigned cpus = 0;      ///< how many CPUs, at least 1; with `exclusive`, 0 means all CPUs that exist
    bool exclusive = false; ///< asks for all usable CPUs; allocateCpus() refuses unless all of them are free
};

struct CpuAllocation {
    CpuList cpus;        ///< the job's CPUs, at least as many as the job asked for
    CpuList reserved;    ///< no other job may get these: `cpus`, with Idle also their siblings, with `exclusive` all usable CPUs
    CpuList memoryNodes; ///< the NUMA nodes of `cpus`

    bool operator==(const CpuAllocation&) const = default;
};

/// Chooses whole cores for a job. If one hyper-thread of a core is taken, the core is not free. A core may have hyper-threads
/// that jobs may not use. With HyperThreads::Count, a job can get the usable hyper-threads of such a core. With any other
/// setting, no job gets such a core. The job gets CPUs of one L3 cache if an L3 cache has enough free CPUs. If no L3 cache has
/// enough free CPUs, the job gets CPUs of one NUMA node, or else of one package. Among several possible places, allocateCpus()
/// prefers the fewest NUMA nodes, and after that the fewest L3 caches. If several places are still equal, allocateCpus()
/// prefers the place with the fewest free CPUs, so that large jobs find large free places. If places are equal in all these
/// respects, allocateCpus() takes the place whose CPUs have the lowest numbers. The argument `usable` lists the CPUs of the node
/// that jobs may use. The argument `taken` lists the CPUs that other jobs have reserved. The same arguments always give the same
/// result. Errors: LimitInvalid if the request asks for no CPUs, or for more CPUs than jobs may use on this node; Busy if the
/// request asks for more CPUs than are free now.
Result<CpuAllocation> allocateCpus(const Topology& topology, const CpuList& usable, const CpuList& taken,
                                   const CpuRequest& request, HyperThreads hyperThreads);

/// Returns an allocation of the given CPUs and of their NUMA nodes. The batch system has chosen the CPUs already. Error:
/// LimitInvalid if the list of CPUs is empty, or if a CPU of the list does not exist or is offline. The message names the wrong
/// CPUs.
Result<CpuAllocation> describeCpus(const Topology& topology, const CpuList& cpus);

} // namespace pinfold
