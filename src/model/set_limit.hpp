// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads and writes limits in the form in which people write them. limit_table.hpp says what each limit is.
#pragma once

#include "model/resource_limits.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// Sets one limit from the text that people write: "4G", "150%", "2h 30min", "0-3,8", "/dev/sda 10M", "TERM", "job". Errors:
/// InvalidArgument, LimitInvalid.
Result<void> setLimit(ResourceLimits& limits, std::string_view name, std::string_view text);

// Returns the text of a limit that is not a number. D-Bus, JSON and the screen have the same text.
inline std::string limitText(const CpuList& value) { return value.toString(); }
inline std::string limitText(const DeviceAmounts& value) { return value.toString(); }
inline std::string limitText(const std::string& value) { return value; }
inline std::string limitText(OomPolicy value) { return value == OomPolicy::Job ? "job" : "process"; }

// Sets a limit from the text that limitText() gives. Error: InvalidArgument.
Result<void> setLimitText(std::string_view text, std::optional<CpuList>& limit);
Result<void> setLimitText(std::string_view text, std::optional<DeviceAmounts>& limit);
Result<void> setLimitText(std::string_view text, std::optional<std::string>& limit);
Result<void> setLimitText(std::string_view text, std::optional<OomPolicy>& limit);

} // namespace pinfold
