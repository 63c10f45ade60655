// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "doctor/host.hpp"

#include <functional>
#include <string>

namespace pinfold {

/// Asks systemd, the bus, pinfoldd, Grid Engine and the kernel what `pinfold doctor` wants to know. Each question has a time
/// limit of 2 s. Before each question, lookAtHost() calls `asking` with the name of the program that it asks.
doctor::Host lookAtHost(const std::function<void(const char* whom)>& asking);

} // namespace pinfold
