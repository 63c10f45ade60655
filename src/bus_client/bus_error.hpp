// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "systemd/sdbus_compat.hpp"

#include <chrono>

namespace pinfold {

/// Converts an error of sdbus-c++ to the Error that pinfold shows to the user. `waited` is the time for which the client has
/// waited, or zero if this time is not known.
Error fromBusError(const sdbus::Error& error, std::chrono::steady_clock::duration waited = {});

} // namespace pinfold
