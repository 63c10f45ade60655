// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

namespace pinfold {

/// Tells everyone who waits at the wrapper's socket that pinfoldd does not start, and why. This takes at most a tenth of a
/// second, however many say nothing. It is for a process that ends afterwards: until then the connections, and the descriptors
/// that came with them, stay open.
void turnAway(int listener, const Error& why);

} // namespace pinfold
