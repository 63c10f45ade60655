// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares functions that make any text safe for a unit name, a bus path or a terminal. Before pinfold prints a text from outside
// of pinfold, a function of base/escape.hpp must escape the text. A text from outside must also be escaped before it becomes a
// part of a name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// Escapes a text in the same way as systemd-escape(1). Unlike systemd-escape(1), escapeUnitName() escapes ':', because some
/// programs cannot read a ':' within a path in /proc/PID/cgroup. escapeUnitName() writes a '-' only in place of a '/'.
std::string escapeUnitName(std::string_view text);
/// Reverses escapeUnitName(). Returns nullopt if the text is not a result of escapeUnitName().
std::optional<std::string> unescapeUnitName(std::string_view escaped);

/// Escapes a text in the same way as sd_bus_path_encode(3).
std::string escapeBusLabel(std::string_view text);
std::optional<std::string> unescapeBusLabel(std::string_view label);

/// Makes any bytes safe for a terminal, a log line and a D-Bus string. printable() writes a control character, or a byte outside
/// of valid UTF-8, as \xNN. DEL, C1 and bidirectional controls count as control characters. A backslash becomes \\. The result
/// has at most `maxBytes` bytes. If printable() has cut the text, the result ends with "…".
std::string printable(std::string_view bytes, std::size_t maxBytes = 4096);

/// Returns true if printable() would change nothing in the text except backslashes.
bool isPrintable(std::string_view bytes);
/// Escapes a text as printable() does. If printable() would escape only backslashes, legible() does not change the text.
/// legible() does not change a text that is already a result of legible().
std::string legible(std::string_view bytes, std::size_t maxBytes);

} // namespace pinfold
