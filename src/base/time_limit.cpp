// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/time_limit.hpp"

#include "base/parse.hpp"

namespace pinfold {
namespace {

// kMost is the largest time limit, in seconds. kMost seconds are about 35,000 years, so no job needs a higher limit. If pinfold
// converts kMost seconds to microseconds, the result fits into 64 bits.
constexpr std::uint64_t kMost = 1ULL << 40U;

} // namespace

std::optional<std::uint64_t> parseTimeLimit(std::string_view text) {
    std::uint64_t seconds = 0;
    for (int parts = 1;; ++parts) {
        const auto colon = text.find(':');
        const auto part = text.substr(0, colon);
        const auto number = part.empty() ? Result<std::uint64_t>(0) : parseUnsigned(part);
        if (!number || *number > kMost || parts > 3)
            return std::nullopt;
        seconds = seconds * 60 + *number;
        if (colon == std::string_view::npos)
            break;
        text.remove_prefix(colon + 1);
    }
    return seconds > 0 && seconds <= kMost ? std::optional(seconds) : std::nullopt;
}

} // namespace pinfold
