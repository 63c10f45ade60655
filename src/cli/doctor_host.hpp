// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "doctor/host.hpp"

#include <functional>
#include <string>

namespace pinfold {

/// Collects the data for `pinfold doctor` from systemd, the bus, pinfoldd, Grid Engine and the kernel. lookAtHost() waits at most
/// 2 s for each answer. Before lookAtHost() asks a program, lookAtHost() calls `asking` with the name of the program.
doctor::Host lookAtHost(const std::function<void(const char* whom)>& asking);

} // namespace pinfold
