// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

struct sd_bus_message;

namespace pinfold {

/// Refuses arguments of a call that are costly or ambiguous to read: large dictionaries and lists, containers as values, and
/// repeated entries (std::map would silently keep only one of them). checkRequest() moves the read position of the message.
Result<void> checkRequest(sd_bus_message* message);

} // namespace pinfold
