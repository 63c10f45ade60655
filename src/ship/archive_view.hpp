// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <chrono>
#include <cstdint>

namespace pinfold {

/// Holds what the archive's newest answer says about this node.
struct ArchiveView {
    std::chrono::microseconds clockOffset{}; ///< the result of clockOffset(): how far the node's clock is ahead of the server's
    std::uint64_t missing = 0;               ///< how many receipts of this node the archive can never get
};

/// The node's clock is ahead of the server's clock by at least the returned time. If the node's clock is behind the server's
/// clock, the result is negative. The node sends a request to the server at the time `sent`, and gets the answer at the time
/// `received`. The server reads its clock (`server`) between the times `sent` and `received`. If the server's answer takes a
/// minute, the result can be 0 although the clocks differ by up to a minute.
std::chrono::microseconds clockOffset(RealTime sent, RealTime server, RealTime received);

} // namespace pinfold
