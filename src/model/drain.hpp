// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// Why the node takes no new jobs, since when, and who asked for that.
struct Drain {
    static constexpr std::size_t kMostReason = 500; ///< bytes that an administrator may give

    std::string reason;                 ///< printable; empty: none was given
    std::optional<std::uint64_t> since; ///< CLOCK_REALTIME, microseconds; unset: unknown
    std::optional<uid_t> by;            ///< who asked for it; unset: pinfoldd itself

    bool operator==(const Drain&) const = default;
};

/// An administrator's drain as one JSON document with a version.
std::string encode(const Drain& drain);
/// Reads what encode() wrote. Error: InvalidArgument for any other text.
Result<Drain> decodeDrain(std::string_view text);

} // namespace pinfold
