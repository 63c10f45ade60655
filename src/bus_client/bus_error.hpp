// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "systemd/sdbus_compat.hpp"

#include <chrono>

namespace pinfold {

/// Returns pinfold's error for a bus error. `waited` is the time for which the client has waited, or zero if this time is not
/// known.
Error fromBusError(const sdbus::Error& error, std::chrono::steady_clock::duration waited = {});

} // namespace pinfold
