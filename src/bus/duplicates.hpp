// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "systemd/sdbus_compat.hpp"

#include <optional>
#include <string>

namespace pinfold {

/// The first key that a dictionary argument of the message holds more than once. std::map would keep one of them and say
/// nothing, and which one counts is what a caller could hide behind. Reads the message from its start.
std::optional<std::string> repeatedEntry(sdbus::Message& message);

} // namespace pinfold
