// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

namespace pinfold {

/// Tells everyone who waits at the wrapper's socket that pinfoldd does not start, and why. turnAway() takes at most a tenth of a
/// second, even if many connections send nothing. The connections, and the descriptors that came with them, stay open until the
/// process ends, so call turnAway() only at the end of a process.
void turnAway(int listener, const Error& why);

} // namespace pinfold
