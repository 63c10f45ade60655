// SPDX-License-Identifier: LGPL-2.1-or-later
// Creates and connects all parts of pinfoldd, and runs the event loop.
#pragma once

#include <filesystem>

namespace pinfold {

/// Runs pinfoldd. pinfoldd puts the directory `root` before every path that pinfoldd reads or writes. The exit status is 0 after
/// SIGTERM. After a failure that a restart can repair, such as a lost bus, the exit status is 1. After a failure that a restart
/// cannot repair, the exit status is 78 (EX_CONFIG).
int runDaemon(const std::filesystem::path& root);

} // namespace pinfold
