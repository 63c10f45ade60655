// SPDX-License-Identifier: LGPL-2.1-or-later
// Which CPUs a job gets. Pure: the caller reads the topology and remembers what is taken.
#pragma once

#include "base/cpu_list.hpp"
#include "base/result.hpp"
#include "model/allocation.hpp"
#include "os/topology.hpp"

namespace pinfold {

struct CpuRequest {
    unsigned cpus = 0;      ///< at least 1; with `exclusive`, 0 means as many as exist
    bool exclusive = false; ///< asks for all usable CPUs; refused unless all are free
};

struct CpuAllocation {
    CpuList cpus;        ///< the job's CPUs, at least as many as it asked for
    CpuList reserved;    ///< no other job may get these: `cpus`; with Idle also their siblings; if exclusive, all usable CPUs
    CpuList memoryNodes; ///< the NUMA nodes of `cpus`

    bool operator==(const CpuAllocation&) const = default;
};

/// Gives whole cores. A core with a taken hyper-thread is not free. A core with a hyper-thread that is not usable is not for
/// jobs, except that Count takes the usable rest of the core. The job gets CPUs of one L3 cache if any has room, else of one NUMA
/// node, else of one package. Among these it gets the CPUs where it spans the fewest NUMA nodes, then the fewest L3 caches, then
/// the fullest place (so that large holes stay for large jobs), then the lowest numbers. `usable` is the node's share for jobs.
/// `taken` is what other jobs have reserved. Equal arguments give equal results. Errors: LimitInvalid for no CPUs, or for more
/// than jobs can have on this node at all; Busy for more than are free now.
Result<CpuAllocation> allocateCpus(const Topology& topology, const CpuList& usable, const CpuList& taken,
                                   const CpuRequest& request, HyperThreads hyperThreads);

/// The allocation for CPUs that the batch system has chosen already: these CPUs, and the memory nodes that match. Error:
/// LimitInvalid for an empty list, or naming the CPUs that do not exist or are not online.
Result<CpuAllocation> describeCpus(const Topology& topology, const CpuList& cpus);

} // namespace pinfold
