// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace pinfold {

/// Formats amounts and times for people. An unknown amount is shown as "-".
struct Amounts {
    bool raw = false;   ///< if true, amounts are plain numbers (the user gave the option --bytes)
    bool local = false; ///< times are in the local time zone, and not in UTC

    std::string size(std::optional<std::uint64_t> bytes) const;
    std::string duration(std::optional<Microseconds> time) const;
    /// Returns the run time of a job in the form of Slurm, such as "1:30:00" or "2-06:00:00" (2 days and 6 hours). If the run
    /// time is below one second, runTime() returns the text of duration().
    std::string runTime(std::optional<Microseconds> time) const;
    /// Returns a time such as "2026-11-20T23:43:09+01:00", or "2026-11-20T22:43:09Z" in UTC.
    std::string time(RealTime time) const;
    std::string quota(std::optional<std::uint64_t> usecPerSecond) const;
    static std::string number(std::optional<std::uint64_t> value);
};

/// Pages for people show times in the local time zone.
inline const Amounts kLocalAmounts{.local = true};

/// Returns a time in the local time zone, such as "2026-11-20T23:43:09+01:00".
std::string formatLocal(RealTime time);

} // namespace pinfold
