// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/error_code.hpp"
#include "cli/command_line.hpp"

namespace pinfold {

/// Does what was typed. If there are several JOBs, it handles one after the other. A failure for one JOB does not stop the
/// others. Each failure is printed with its JOB, and the status of the first failure is returned. `stop --wait` asks all of them
/// to stop before it waits for the first, so that their grace times run at the same time. --timeout is for all of them together.
ExitStatus doForEachJob(CommandLine line);

} // namespace pinfold
