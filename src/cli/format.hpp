// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace pinfold {

/// Returns the user's name, or the number if the user has no name.
std::string userName(uid_t uid);

/// Returns the user id for a name or a number. Error: InvalidArgument.
Result<std::uint32_t> userId(const std::string& text);

/// Returns "11-20 12:00" (UTC), or "2025-11-20" if the time is more than half a year away from `now`.
std::string formatShortUtc(std::uint64_t realtimeUsec, std::uint64_t now);

/// Returns the CLOCK_REALTIME microseconds of "2026-11-20", "2026-11-20 12:00[:30]", "2026-11-20T12:00:00Z" (all UTC), "-1h",
/// "today" or "now". Error: InvalidArgument.
Result<std::uint64_t> parseWhen(const std::string& text, std::uint64_t now);

} // namespace pinfold
