// SPDX-License-Identifier: LGPL-2.1-or-later
// Creates and connects all parts of pinfoldd, and runs the event loop.
#pragma once

#include "daemon/options.hpp"

namespace pinfold {

/// Runs pinfoldd. The exit status is 0 after SIGTERM. It is 1 after a failure that a restart may repair, such as a lost bus. It
/// is 78 (EX_CONFIG) after a failure that a restart cannot repair.
int runDaemon(const DaemonOptions& options);

} // namespace pinfold
