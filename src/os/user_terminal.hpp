// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace pinfold {

/// "pts/3", "tty1", "ttyS0" of a device number as in ProcessInfo::terminal; empty for 0, and for a device that is not a user's
/// terminal.
std::string terminalName(std::uint32_t device);

/// Writes a line to a terminal if the terminal belongs to this user, because by now its number could be another user's. Never
/// waits, and cuts off what does not fit. Error: Internal, with the terminal's name.
Result<void> writeToTerminal(std::uint32_t device, uid_t owner, const std::string& text);

} // namespace pinfold
