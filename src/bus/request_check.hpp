// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

struct sd_bus_message;

namespace pinfold {

/// Checks a call's arguments for what would make reading them costly or ambiguous: the size of dictionaries and lists, containers
/// as values, and repeated entries, of which std::map would silently keep one. Moves the read position.
Result<void> checkRequest(sd_bus_message* message);

} // namespace pinfold
