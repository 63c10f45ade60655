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

/// The node takes no new jobs.
struct Drain {
    static constexpr std::size_t kMostReason = 500; ///< bytes that an administrator may give

    std::string reason;                 ///< printable; empty: none was given
    std::optional<std::uint64_t> since; ///< CLOCK_REALTIME, microseconds; unset: unknown
    std::optional<uid_t> by;            ///< who asked for it; unset: pinfoldd itself

    bool operator==(const Drain&) const = default;
};

/// One JSON document with a version, of an administrator's drain.
std::string encode(const Drain& drain);
/// Error: InvalidArgument for anything that encode() can't have written.
Result<Drain> decodeDrain(std::string_view text);

} // namespace pinfold
