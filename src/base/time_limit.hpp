// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pinfold {

/// Reads a time limit in the form [[hours:]minutes:]seconds, and returns the number of seconds. Grid Engine and Torque use the
/// form [[hours:]minutes:]seconds, such as "90", "1:30" or "240:00:00". parseTimeLimit() accepts hours, minutes and seconds above
/// 59. An empty part of the text means 0, as in "1::30". The result is nullopt if the time is 0, or if the text (such as
/// "INFINITY") is not a time.
///
/// parseTimeLimit() reads what batch systems write, and parseDuration() reads what people write. In the time limits of batch
/// systems, "1:30" always means minutes and seconds. Some people mean hours and minutes by "1:30", so parseDuration() refuses the
/// text "1:30". In a text such as "1:30:00", parseDuration() refuses minutes and seconds above 59. The texts "0" and "INFINITY"
/// mean that a job has no time limit.
std::optional<std::uint64_t> parseTimeLimit(std::string_view text);

} // namespace pinfold
