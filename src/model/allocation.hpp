// SPDX-License-Identifier: LGPL-2.1-or-later
// Describes the CPUs and GPUs that pinfoldd reserves for a job.
#pragma once

#include "base/cpu_list.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace pinfold {

/// Says what counts as one CPU in a job's request. A core is never divided between jobs.
enum class HyperThreads {
    Count, ///< a hyper-thread counts as one CPU; pinfoldd rounds a request up to whole cores
    Share, ///< a core counts as one CPU; the job gets all hyper-threads of the core
    Idle,  ///< a core counts as one CPU; the job gets one hyper-thread of the core, and the other hyper-threads stay unused
};

/// Says which parts of the node a job asks for. If a request contains a number of CPUs or GPUs instead of a list, pinfoldd
/// chooses the CPUs or GPUs. If the batch system has chosen CPUs or GPUs already, the request lists the chosen CPUs or GPUs.
struct AllocationRequest {
    std::optional<std::uint64_t> cpus = {}; ///< how many CPUs the job asks for, 1 to 8192
    std::optional<std::uint64_t> gpus = {}; ///< how many GPUs the job asks for, 1 to 8192
    std::optional<CpuList> cpuList = {};
    std::optional<CpuList> gpuList = {}; ///< the GPUs by number; the first GPU in the site's configuration has the number 0
    bool exclusive = false;              ///< the job asks for all CPUs, and must be the only job on the node

    bool empty() const { return *this == AllocationRequest{}; }
    bool operator==(const AllocationRequest&) const = default;
};

/// Calls f(name, member) for each member except `exclusive`.
template <class Request, class F> void forEachAllocationRequest(Request& request, F&& f) {
    f("cpus", request.cpus);
    f("gpus", request.gpus);
    f("cpu_list", request.cpuList);
    f("gpu_list", request.gpuList);
}

/// Checks the request. If a number is out of range, the error is LimitInvalid. If the request contains two entries that exclude
/// each other, the error is InvalidArgument.
Result<void> validate(const AllocationRequest& request);

/// Says which CPUs and GPUs pinfoldd has reserved for the job. If the list of CPUs is empty, the job and other jobs share the
/// CPUs that no job has reserved. If the list of GPUs is empty, the job and other jobs share the GPUs that no job has reserved.
struct Allocation {
    CpuList cpus;
    /// The CPUs that pinfoldd does not give to any job except this one. The member `reserved` contains all of `cpus`. With
    /// HyperThreads::Idle, `reserved` contains all hyper-threads of the cores in `cpus`.
    CpuList reserved;
    CpuList gpus; ///< the GPUs by number, as in AllocationRequest::gpuList
    bool exclusive = false;
    /// The variables that tell the job's programs which CPUs and GPUs the job has.
    std::map<std::string, std::string> environment;

    bool operator==(const Allocation&) const = default;
};

} // namespace pinfold
