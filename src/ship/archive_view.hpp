// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <chrono>
#include <cstdint>

namespace pinfold {

/// Holds what the archive said about this node when it last answered a lot.
struct ArchiveView {
    std::chrono::microseconds clockOffset{}; ///< the result of clockOffset(): by how much the node's clock is ahead
    std::uint64_t missing = 0;               ///< how many receipts of this node the archive can never get
};

/// Returns by how much the node's clock is certainly ahead of the server's clock. The result is negative if the node's clock is
/// behind. The server has read its clock (`server`) after the node sent its question (`sent`), and before the node got the answer
/// (`received`). So if an answer takes a minute, a difference of up to a minute does not prove that a clock is wrong.
std::chrono::microseconds clockOffset(RealTime sent, RealTime server, RealTime received);

} // namespace pinfold
