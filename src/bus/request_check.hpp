// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

struct sd_bus_message;

namespace pinfold {

/// Refuses a call if its arguments are costly to read, or if their meaning is ambiguous. Large dictionaries, large lists and
/// nested dictionaries are costly to read. A dictionary is ambiguous if two entries have the same key. std::map would silently
/// keep only one of two entries with the same key. checkRequest() moves the read position of the message.
Result<void> checkRequest(sd_bus_message* message);

} // namespace pinfold
