// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// Says why the node takes no new jobs, since when, and who asked for the drain.
struct Drain {
    static constexpr std::size_t kMostReason = 500; ///< the maximum length of an administrator's reason, in bytes

    std::string reason;            ///< the reason as a printable text; empty if nobody gave a reason
    std::optional<RealTime> since; ///< the time at which the drain began; unset if the time is not known
    std::optional<uid_t> by;       ///< the user who asked for the drain; unset if pinfoldd itself drained the node

    bool operator==(const Drain&) const = default;
};

/// Returns an administrator's drain as one JSON document. The member "version" of the document is the version of the format.
std::string encode(const Drain& drain);
/// Reads a text that encode() has written. Fails with InvalidArgument if encode() has not written the text.
Result<Drain> decodeDrain(std::string_view text);

} // namespace pinfold
