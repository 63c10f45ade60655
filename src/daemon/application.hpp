// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the parts of pinfoldd, joins them, and runs the loop.
#pragma once

#include "daemon/options.hpp"

namespace pinfold {

/// Runs pinfoldd. Exit status: 0 after SIGTERM, 1 for a failure that a restart may cure (bus lost), 78 (EX_CONFIG) for a failure
/// that a restart cannot cure.
int runDaemon(const DaemonOptions& options);

} // namespace pinfold
