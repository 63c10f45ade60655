// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ship/archive_view.hpp"

#include <algorithm>

namespace pinfold {
namespace {

/// The time in the server's answer can be arbitrarily far from the node's time. The difference between the two times can be too
/// large for a signed number.
std::chrono::microseconds toSigned(Microseconds duration) {
    constexpr auto kMost = std::chrono::microseconds::max();
    return std::min(duration, Microseconds(kMost));
}

} // namespace

std::chrono::microseconds clockOffset(RealTime sent, RealTime server, RealTime received) {
    return sent > server ? toSigned(sent - server) : -toSigned(timeBetween(received, server));
}

} // namespace pinfold
