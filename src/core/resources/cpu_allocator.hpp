// SPDX-License-Identifier: LGPL-2.1-or-later
// Chooses the CPUs that a job gets. The code is pure: the caller reads the topology and remembers which CPUs are taken.
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

/// Gives whole cores to a job. A core with a taken hyper-thread is not free. A core with a hyper-thread that jobs may not use is
/// not given to jobs; but with HyperThreads::Count the usable hyper-threads of such a core are given to jobs. The job gets CPUs
/// of one L3 cache if any L3 cache has room, or else of one NUMA node, or else of one package. If several choices remain, the job
/// gets the CPUs where it spans the fewest NUMA nodes, then the fewest L3 caches, then the fullest place (large holes stay for
/// large jobs), then the CPUs with the lowest numbers. `usable` names the CPUs of the node that jobs may use. `taken` names the
/// CPUs that other jobs have reserved. Equal arguments give equal results. Errors: LimitInvalid if the request asks for no CPUs,
/// or for more than jobs can ever have on this node; Busy if it asks for more than are free now.
Result<CpuAllocation> allocateCpus(const Topology& topology, const CpuList& usable, const CpuList& taken,
                                   const CpuRequest& request, HyperThreads hyperThreads);

/// Returns the allocation for CPUs that the batch system has chosen already: these CPUs, and their NUMA nodes. Error:
/// LimitInvalid if the list is empty, or if it names CPUs that do not exist or are not online (the message names them).
Result<CpuAllocation> describeCpus(const Topology& topology, const CpuList& cpus);

} // namespace pinfold
