// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

namespace pinfold {

/// Tells all programs that have connected to the wrapper's socket why pinfoldd does not start. The function turnAway() takes at
/// most a tenth of a second, even if many connections send nothing. Call turnAway() only when this process is about to end.
/// turnAway() closes neither the connections nor the descriptors that wrappers have sent.
void turnAway(int listener, const Error& why);

} // namespace pinfold
