// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

struct sd_bus_message;

namespace pinfold {

/// A call's arguments, as far as they can make reading them costly or ambiguous: the size of dictionaries and lists, containers
/// as values, and entries that are there twice, of which std::map would keep one and say nothing. Moves the read position.
Result<void> checkRequest(sd_bus_message* message);

} // namespace pinfold
