// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "systemd/sdbus_compat.hpp"

namespace pinfold {

/// Succeeds if pinfoldd runs, or if a call would make the bus start pinfoldd. If pinfoldd has refused to start, for instance
/// because of a wrong configuration, the error is Unreachable and contains the reason. If pinfoldd has refused to start, a client
/// should not call pinfoldd. If a client called pinfoldd after a failed start, the bus would start pinfoldd again, and would wait
/// 25 s for pinfoldd.
Result<void> checkDaemon(sdbus::IConnection& connection);

} // namespace pinfold
