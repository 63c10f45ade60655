// SPDX-License-Identifier: LGPL-2.1-or-later
// Says how long archive-admin waits for the server.
#pragma once

#include "base/clock.hpp"

namespace pinfold {

constexpr Microseconds kConnectPatience = 10s;
constexpr Microseconds kQueryPatience = 30s;
constexpr Microseconds kScriptPatience = 1h; ///< the time limit for an SQL file; an upgrade can rewrite large tables

} // namespace pinfold
