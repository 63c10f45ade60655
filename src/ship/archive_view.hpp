// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <chrono>
#include <cstdint>

namespace pinfold {

/// Holds what the archive's newest answer says about this node.
struct ArchiveView {
    std::chrono::microseconds clockOffset{}; ///< the result of clockOffset(): by how much the node's clock is ahead
    std::uint64_t missing = 0;               ///< how many receipts of this node the archive can never get
};

/// Returns the least time by which the node's clock is ahead of the server's clock. The result is negative if the node's clock is
/// behind. The server has read its clock (`server`) after the node sent its question (`sent`), and before the node got the answer
/// (`received`). If the answer takes a minute, the result can be 0 although the clocks differ by up to a minute.
std::chrono::microseconds clockOffset(RealTime sent, RealTime server, RealTime received);

} // namespace pinfold
