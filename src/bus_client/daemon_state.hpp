// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "systemd/sdbus_compat.hpp"

namespace pinfold {

/// Error: Unreachable, with the reason, if pinfoldd has refused to start, for instance because its configuration cannot be read.
/// A call would have the bus start it once more and then wait 25 s for it. Success: pinfoldd runs, or a call starts it.
Result<void> checkDaemon(sdbus::IConnection& connection);

} // namespace pinfold
