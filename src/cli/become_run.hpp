// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

namespace pinfold {

/// If the command line is `pinfold run` with --dry-run before the command, returns how many words stand before the command.
/// Otherwise returns nullopt.
std::optional<int> wordsOfDryRun(int argc, char** argv);

/// For `pinfold run` without --dry-run, this process becomes pinfold-run, which reads the options itself. For other command
/// lines, returns how many words pinfold has to parse.
int becomePinfoldRun(int argc, char** argv);

} // namespace pinfold
