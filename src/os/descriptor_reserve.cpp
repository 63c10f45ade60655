// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/descriptor_reserve.hpp"

#include "base/unique_fd.hpp"

#include <sys/eventfd.h>
#include <sys/resource.h>

#include <algorithm>

namespace pinfold {
namespace {

constexpr std::uint64_t kUsualLimit = 1024;

/// Returns the maximum number of descriptors that this process can have. mostDescriptors() asks the kernel at each call, because
/// other programs can change the limit (prlimit(2)).
std::uint64_t mostDescriptors() {
    rlimit limit{};
    return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? std::uint64_t{limit.rlim_cur} : kUsualLimit;
}

UniqueFd lowestFree() { return UniqueFd(::eventfd(0, EFD_CLOEXEC)); }

} // namespace

bool isOfReserve(int descriptor, std::uint64_t reserve) {
    const auto most = mostDescriptors();
    return static_cast<std::uint64_t>(descriptor) >= most - reserve * std::min(most, kUsualLimit) / kUsualLimit;
}

bool onlyReserveIsLeft(std::uint64_t reserve) {
    const auto lowest = lowestFree();
    return !lowest || isOfReserve(lowest.get(), reserve);
}

std::uint64_t partOfDescriptors(std::uint64_t part) { return mostDescriptors() / part; }

bool onlyRootsQuarterIsLeft() {
    const auto lowest = lowestFree();
    return !lowest || static_cast<std::uint64_t>(lowest.get()) >= mostDescriptors() - partOfDescriptors(4);
}

} // namespace pinfold
