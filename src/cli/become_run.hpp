// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

namespace pinfold {

/// For a dry run of `pinfold run`, wordsOfDryRun() returns how many words stand before the job's command. If --dry-run does not
/// stand before the job's command, the result is nullopt. Call wordsOfDryRun() only if the verb is `run`.
std::optional<int> wordsOfDryRun(int argc, char** argv);

/// Replaces the calling process by pinfold-run if the command line is `pinfold run` without --dry-run. pinfold-run itself reads
/// the options of `pinfold run`. Returns only if pinfold itself has to handle the command line. The returned number says how many
/// words of the command line pinfold has to parse.
int becomePinfoldRun(int argc, char** argv);

} // namespace pinfold
