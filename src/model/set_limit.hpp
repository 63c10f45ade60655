// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts limits to text that people read, and converts text that people write to limits. limit_table.hpp describes the
// limits.
#pragma once

#include "model/resource_limits.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Sets one limit from a text that people write, such as "4G", "150%", "2h 30min", "0-3,8", "/dev/sda 10M", "TERM", "job".
/// Errors: InvalidArgument, LimitInvalid.
Result<void> setLimit(ResourceLimits& limits, std::string_view name, std::string_view text);

// Returns the value of a limit as text if the value is not a number. D-Bus, JSON and the screen show the text from limitText().
inline std::string limitText(const CpuList& value) { return value.toString(); }
inline std::string limitText(const DeviceAmounts& value) { return value.toString(); }
inline std::string limitText(const std::string& value) { return value; }
std::string limitText(OomPolicy value);

// Sets a limit from a text of the form that limitText() returns. Error: InvalidArgument.
Result<void> setLimitText(std::string_view text, std::optional<CpuList>& limit);
Result<void> setLimitText(std::string_view text, std::optional<DeviceAmounts>& limit);
Result<void> setLimitText(std::string_view text, std::optional<std::string>& limit);
Result<void> setLimitText(std::string_view text, std::optional<OomPolicy>& limit);

std::vector<std::string> oomPolicyNames();

} // namespace pinfold
