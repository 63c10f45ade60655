// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "run/options.hpp"

namespace pinfold {

/// Has pinfoldd put this very process into the scope that is asked for, and takes what the job's environment is to have besides.
/// Error: Unreachable, Internal, or why pinfoldd refuses.
Result<void> enterScope(const WrapperCreate& request);

/// --exec: this very process becomes the job. Returns the exit status of a failure only.
int runInPlace(const RunOptions& options);

} // namespace pinfold
