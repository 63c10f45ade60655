// SPDX-License-Identifier: LGPL-2.1-or-later
// Describes the CPUs and GPUs that a job has for itself alone.
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
    Idle,  ///< a core counts as one CPU; the job gets one hyper-thread of the core, and no job gets the other hyper-threads
};

/// Says which parts of the node a job asks for. If a request contains a number of CPUs or GPUs, pinfoldd chooses the CPUs or
/// GPUs. A request may also contain a list of CPUs or GPUs that the batch system has chosen already.
struct AllocationRequest {
    std::optional<std::uint64_t> cpus = {}; ///< the number of CPUs, 1 to 8192
    std::optional<std::uint64_t> gpus = {}; ///< the number of GPUs, 1 to 8192
    std::optional<CpuList> cpuList = {};
    std::optional<CpuList> gpuList = {}; ///< the numbers of GPUs, from 0, in the order of the site's configuration
    bool exclusive = false;              ///< the job wants the whole node: all its CPUs, and no other job beside it

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

/// Checks the request. The errors are LimitInvalid for a number out of range, and InvalidArgument if the request contains two
/// entries that cannot be used together.
Result<void> validate(const AllocationRequest& request);

/// Says which CPUs and GPUs a job has for itself alone. If the list of CPUs or GPUs is empty, the job shares the CPUs or GPUs
/// that no job has for itself alone.
struct Allocation {
    CpuList cpus;
    CpuList reserved; ///< `cpus` and, depending on the policy, their idle hyper-threads; for this job alone
    CpuList gpus;     ///< the numbers of GPUs, as in AllocationRequest::gpuList
    bool exclusive = false;
    /// The variables that tell the job's programs which CPUs and GPUs the job has.
    std::map<std::string, std::string> environment;

    bool operator==(const Allocation&) const = default;
};

} // namespace pinfold
