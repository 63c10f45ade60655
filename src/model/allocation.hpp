// SPDX-License-Identifier: LGPL-2.1-or-later
// Parts of the node that a job has for itself.
#pragma once

#include "base/cpu_list.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace pinfold {

/// What a CPU is that a job asks for. A core is never divided between jobs.
enum class HyperThreads {
    Count, ///< a hyper-thread: a request is rounded up to whole cores
    Share, ///< a core: the job gets all its hyper-threads
    Idle,  ///< a core: the job gets one hyper-thread of it and nobody gets the others
};

/// What a job asks for. Either a number, for pinfoldd to choose, or a list that the batch system has chosen already.
struct AllocationRequest {
    std::optional<std::uint64_t> cpus = {}; ///< 1 to 8192
    std::optional<std::uint64_t> gpus = {}; ///< 1 to 8192
    std::optional<CpuList> cpuList = {};
    std::optional<CpuList> gpuList = {}; ///< numbers in the order of the site's configuration, from 0
    bool exclusive = false;              ///< the node: all its CPUs, and no other job

    bool empty() const { return *this == AllocationRequest{}; }
    bool operator==(const AllocationRequest&) const = default;
};

/// Calls f(name, member) for all but `exclusive`.
template <class Request, class F> void forEachAllocationRequest(Request& request, F&& f) {
    f("cpus", request.cpus);
    f("gpus", request.gpus);
    f("cpu_list", request.cpuList);
    f("gpu_list", request.gpuList);
}

/// Errors: LimitInvalid for a number out of range; InvalidArgument for what excludes each other.
Result<void> validate(const AllocationRequest& request);

/// What a job got. Empty lists: nothing, it shares what nobody has for itself.
struct Allocation {
    CpuList cpus;
    CpuList reserved; ///< CPUs that nobody else gets: `cpus`, and by policy their idle hyper-threads
    CpuList gpus;     ///< numbers as in AllocationRequest
    bool exclusive = false;
    std::map<std::string, std::string> environment; ///< what tells the job's programs of it

    bool operator==(const Allocation&) const = default;
};

} // namespace pinfold
