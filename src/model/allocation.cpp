// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/allocation.hpp"

namespace pinfold {
namespace {

constexpr std::uint64_t kMost = CpuList::kMaxCpu + 1;

} // namespace

Result<void> validate(const AllocationRequest& request) {
    for (const auto& [name, number] : {std::pair{"cpus", request.cpus}, {"gpus", request.gpus}})
        if (number && (*number == 0 || *number > kMost))
            return Error{ErrorCode::LimitInvalid, std::string(name) + " is " + std::to_string(*number) + ": use 1 to 8192"};
    if (request.cpuList && (request.cpus || request.exclusive))
        return Error{ErrorCode::InvalidArgument, "cpu_list cannot be combined with cpus or exclusive: use only one of them"};
    if (request.gpuList && request.gpus)
        return Error{ErrorCode::InvalidArgument, "gpu_list cannot be combined with gpus: use only one of them"};
    return {};
}

} // namespace pinfold
