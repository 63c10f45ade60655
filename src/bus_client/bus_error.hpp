// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "systemd/sdbus_compat.hpp"

#include <chrono>

namespace pinfold {

/// Converts an error of sdbus-c++ to the Error that pinfold shows to the user. `waited` is the time that the client has waited;
/// zero if the client does not know the time.
Error fromBusError(const sdbus::Error& error, std::chrono::steady_clock::duration waited = {});

} // namespace pinfold
