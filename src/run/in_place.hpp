// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "run/options.hpp"

namespace pinfold {

/// --exec: this very process becomes the job. Returns the exit status of a failure only.
int runInPlace(const RunOptions& options);

} // namespace pinfold
