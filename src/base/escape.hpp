// SPDX-License-Identifier: LGPL-2.1-or-later
// One way into every name space that has rules of its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// As systemd-escape(1), except that ':' is escaped too: it breaks naive readers of /proc/PID/cgroup.
/// '-' never occurs in the result as long as the input has no '/'.
std::string escapeUnitName(std::string_view text);
/// nullopt when the text is no result of escapeUnitName().
std::optional<std::string> unescapeUnitName(std::string_view escaped);

/// As sd_bus_path_encode(3).
std::string escapeBusLabel(std::string_view text);
std::optional<std::string> unescapeBusLabel(std::string_view label);

/// Makes any bytes fit for a terminal, a log line and a D-Bus string: control characters, DEL, C1 controls, bidirectional
/// controls and bytes that are no UTF-8 become \xNN, a backslash becomes \\. At most `maxBytes` bytes, "…" marks the cut.
std::string printable(std::string_view bytes, std::size_t maxBytes = 4096);

} // namespace pinfold
