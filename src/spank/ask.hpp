// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "run/daemon_link.hpp"

#include <cstdint>

namespace pinfold {

/// Time limits in microseconds, because no step of Slurm may hang on us.
struct Patience {
    std::uint64_t untilRead;     ///< for the time in which no pinfoldd reads the request
    std::uint64_t untilAnswered; ///< in all
};

/// pinfoldd's answer to what the link has just asked. Errors: also Unreachable or TimedOut when a time limit is over.
Result<WrapperReply> answerOf(DaemonLink& link, Patience patience);

} // namespace pinfold
