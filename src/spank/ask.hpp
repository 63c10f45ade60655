// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "run/daemon_link.hpp"

#include <cstdint>

namespace pinfold {

/// Microseconds. No step of Slurm's must hang on us.
struct Patience {
    std::uint64_t untilRead;     ///< while there is no pinfoldd to read the request
    std::uint64_t untilAnswered; ///< in all
};

/// pinfoldd's answer to what the link has just asked; Unreachable or TimedOut when the patience is at its end.
Result<WrapperReply> answerOf(DaemonLink& link, Patience patience);

} // namespace pinfold
