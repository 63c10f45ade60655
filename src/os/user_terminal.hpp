// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace pinfold {

/// Returns the terminal's name, for example "pts/3", "tty1" or "ttyS0". `device` is a device number as in ProcessInfo::terminal.
/// Returns an empty text if `device` is 0, or if the device is not a user's terminal.
std::string terminalName(std::uint32_t device);

/// Writes a line to a terminal. writeToTerminal() fails if the terminal does not belong to `owner`. After a terminal was closed,
/// a terminal of another user can get the same device number. writeToTerminal() never waits. If the terminal has no room for the
/// whole text, writeToTerminal() drops the rest of the text. The message of the error Internal contains the terminal's name.
Result<void> writeToTerminal(std::uint32_t device, uid_t owner, const std::string& text);

} // namespace pinfold
