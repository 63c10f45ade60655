// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

struct sd_bus_message;

namespace pinfold {

/// Refuses a call if its arguments are costly to read, or if their meaning is ambiguous. Costly arguments are large dictionaries,
/// large lists, and containers as values. Ambiguous arguments are dictionaries with repeated entries, because std::map would
/// silently keep only one of the entries. checkRequest() moves the read position of the message.
Result<void> checkRequest(sd_bus_message* message);

} // namespace pinfold
