// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/error_code.hpp"
#include "cli/command_line.hpp"

namespace pinfold {

/// Does what was typed: for each JOB in turn where there are several. A failure of one does not keep the others from being done.
/// Each is told with its JOB, and the first one's status is returned. `stop --wait` asks all of them to stop before it waits for
/// the first, so that their grace times run side by side. --timeout is for all of them together.
ExitStatus doForEachJob(CommandLine line);

} // namespace pinfold
