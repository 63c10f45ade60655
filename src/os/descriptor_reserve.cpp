// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/descriptor_reserve.hpp"

#include "base/unique_fd.hpp"

#include <sys/eventfd.h>
#include <sys/resource.h>

#include <algorithm>

namespace pinfold {
namespace {

constexpr std::uint64_t kUsualLimit = 1024;

} // namespace

bool isOfReserve(int descriptor, std::uint64_t reserve) {
    rlimit limit{}; // read anew each time: others may change it
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return false;
    const auto most = std::uint64_t{limit.rlim_cur};
    return static_cast<std::uint64_t>(descriptor) >= most - reserve * std::min(most, kUsualLimit) / kUsualLimit;
}

bool onlyReserveIsLeft(std::uint64_t reserve) {
    const UniqueFd lowest(::eventfd(0, EFD_CLOEXEC));
    return !lowest || isOfReserve(lowest.get(), reserve);
}

} // namespace pinfold
