// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "doctor/host.hpp"

#include <functional>
#include <string>

namespace pinfold {

/// Collects the data for `pinfold doctor` from systemd, the bus, pinfoldd, Grid Engine and the kernel. Each question to one of
/// the programs has a time limit of 2 s. Before each question, lookAtHost() calls `asking` with the name of the program.
doctor::Host lookAtHost(const std::function<void(const char* whom)>& asking);

} // namespace pinfold
