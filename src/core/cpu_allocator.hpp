// SPDX-License-Identifier: LGPL-2.1-or-later
// Which CPUs a job gets. Pure: the caller reads the topology and remembers what is taken.
#pragma once

#include "base/cpu_list.hpp"
#include "base/result.hpp"
#include "model/allocation.hpp"
#include "os/topology.hpp"

namespace pinfold {

struct CpuRequest {
    unsigned cpus = 0;      ///< at least 1; with `exclusive` 0 means as many as there are
    bool exclusive = false; ///< all usable CPUs, refused unless all are free
};

struct CpuAllocation {
    CpuList cpus;        ///< the job's, in all at least what it asked for
    CpuList reserved;    ///< what nobody else may get: `cpus`, with Idle their siblings, and when exclusive all that is usable
    CpuList memoryNodes; ///< the NUMA nodes of `cpus`

    bool operator==(const CpuAllocation&) const = default;
};

/// Whole cores: one with a hyper-thread that is taken is not free. One with a hyper-thread that is not usable is none for jobs,
/// except that Count takes the usable rest of it.
/// A job fits one L3 if any has room, else one NUMA node, else one package; among these it gets those where it spans the fewest
/// NUMA nodes, then the fewest L3s, then the fullest, so that large holes stay for large jobs, then the lowest numbers. `usable`
/// is the node's share for jobs, `taken` what other jobs have reserved. Equal arguments give equal results. Errors: LimitInvalid
/// for no CPUs or more than jobs can have on this node at all; Busy for more than are free now.
Result<CpuAllocation> allocateCpus(const Topology& topology, const CpuList& usable, const CpuList& taken,
                                   const CpuRequest& request, HyperThreads hyperThreads);

/// For CPUs that the batch system has chosen already: these, and the memory nodes that match.
/// Error: LimitInvalid for none, or naming those that don't exist or aren't online.
Result<CpuAllocation> describeCpus(const Topology& topology, const CpuList& cpus);

} // namespace pinfold
