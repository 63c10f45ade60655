// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares the only functions that write any text as a unit name, as part of a bus path, or for a terminal.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// Escapes as systemd-escape(1) does. Also escapes ':', because a ':' would break naive readers of /proc/PID/cgroup. If the input
/// has no '/', the result has no '-'.
std::string escapeUnitName(std::string_view text);
/// Reverses escapeUnitName(). Returns nullopt if the text is not a result of escapeUnitName().
std::optional<std::string> unescapeUnitName(std::string_view escaped);

/// Escapes as sd_bus_path_encode(3) does.
std::string escapeBusLabel(std::string_view text);
std::optional<std::string> unescapeBusLabel(std::string_view label);

/// Makes any bytes safe for a terminal, a log line and a D-Bus string: control characters, DEL, C1 controls, bidirectional
/// controls and bytes that are not UTF-8 become \xNN, a backslash becomes \\. The result has at most `maxBytes` bytes; "…" marks
/// a cut.
std::string printable(std::string_view bytes, std::size_t maxBytes = 4096);

} // namespace pinfold
