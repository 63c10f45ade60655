// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

namespace pinfold {

/// For a `pinfold run` with --dry-run before the command: how many words before the command are pinfold's own.
std::optional<int> wordsOfDryRun(int argc, char** argv);

/// `pinfold run` without --dry-run: this process becomes pinfold-run, which reads the options itself. For other command lines,
/// returns how many words to parse.
int becomePinfoldRun(int argc, char** argv);

} // namespace pinfold
