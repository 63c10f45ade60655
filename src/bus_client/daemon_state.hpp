// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "systemd/sdbus_compat.hpp"

namespace pinfold {

/// Succeeds if pinfoldd runs, or if a call would make the bus start pinfoldd. If pinfoldd has refused to start, for instance
/// because of a wrong configuration, the error is Unreachable and contains the reason. If pinfoldd has refused to start, a
/// client should not call pinfoldd. The bus would start pinfoldd again for the call, and would wait 25 s.
Result<void> checkDaemon(sdbus::IConnection& connection);

} // namespace pinfold
