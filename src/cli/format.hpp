// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "model/exit_state.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace pinfold {

/// Returns the name of the user, or the user id as text if the user has no name.
std::string userName(uid_t uid);

/// Returns the user id for a text that is a user's name or a user id. Error: InvalidArgument.
Result<uid_t> userId(const std::string& text);

/// Returns an exit state as a text for a table: the exit status or the name of the signal. If the exit state is not known, the
/// text is "-".
std::string exitText(const ExitState& exit);

/// Returns a short local time such as "11-20 12:00". If the time is more than half a year away from `now`, the result is a date
/// such as "2025-11-20".
std::string formatShort(RealTime time, RealTime now);

/// Reads a time. A local time has a form such as "2026-11-20", "2026-11-20 12:00[:30]" or "today". A time with its zone has a
/// form such as "2026-11-20T12:00:00Z" or "2026-11-20T13:00:00+01:00". A time relative to `now` is "now" or has a form such as
/// "-1h". Error: InvalidArgument.
Result<RealTime> parseWhen(const std::string& text, RealTime now);

} // namespace pinfold
