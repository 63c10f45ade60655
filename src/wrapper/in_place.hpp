// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "wrapper/wrapped_command.hpp"

namespace pinfold {

/// Asks pinfoldd to put this very process into the scope of the request, and adds the variables of the job's environment. Errors:
/// Unreachable, Internal, or why pinfoldd refuses.
Result<void> enterScope(const WrapperCreate& request);

/// Does --exec: this very process becomes the job. Returns only after a failure, with the exit status.
int runInPlace(const WrappedCommand& job);

} // namespace pinfold
