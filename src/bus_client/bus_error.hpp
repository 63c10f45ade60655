// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "systemd/sdbus_compat.hpp"

#include <chrono>

namespace pinfold {

/// The error of a client for a bus error. `waited`: how long the client has waited; zero: this is not known.
Error fromBusError(const sdbus::Error& error, std::chrono::steady_clock::duration waited = {});

} // namespace pinfold
