// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

namespace pinfold {

/// Tells everyone who waits at the wrapper's socket that pinfoldd does not start, and why. Takes a tenth of a second at most,
/// however many say nothing. For a process that ends then: the connections, and what is passed with them, stay open until then.
void turnAway(int listener, const Error& why);

} // namespace pinfold
