// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "wrapper/wrapped_command.hpp"

namespace pinfold {

/// Asks pinfoldd to put the calling process into the scope of the request, and adds the job's variables to the environment.
/// Fails with Unreachable, Internal, or the error in pinfoldd's refusal.
Result<void> enterScope(const WrapperCreate& request);

/// Carries out the option --exec. The calling process itself executes the command of the job. Returns only after a failure.
/// runInPlace() returns the status with which this program must exit.
int runInPlace(const WrappedCommand& job);

} // namespace pinfold
