// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace pinfold {

/// "pts/3", "tty1", "ttyS0" of a device number as in ProcessInfo::terminal; empty for none and for what is no terminal of a
/// user's.
std::string terminalName(std::uint32_t device);

/// Writes a line to a terminal that is this user's, or to none: its number could be another user's by now. Never waits, and cuts
/// short what doesn't fit. Error: Internal, with the terminal's name.
Result<void> writeToTerminal(std::uint32_t device, uid_t owner, const std::string& text);

} // namespace pinfold
