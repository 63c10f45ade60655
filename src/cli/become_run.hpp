// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

namespace pinfold {

/// If the command line is `pinfold run` with --dry-run before the job's command, returns the number of words before the job's
/// command. Otherwise returns nullopt.
std::optional<int> wordsOfDryRun(int argc, char** argv);

/// If the command line is `pinfold run` without --dry-run, replaces this process by pinfold-run, which reads the options
/// itself. For all other command lines, returns the number of words that pinfold has to parse.
int becomePinfoldRun(int argc, char** argv);

} // namespace pinfold
