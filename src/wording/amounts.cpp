// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wording/amounts.hpp"

#include "base/parse.hpp"

namespace pinfold {

constexpr std::uint64_t kPercentUsec = 10'000; // microseconds in 1 % of a second

std::string Amounts::number(std::optional<std::uint64_t> value) {
    return !value ? "-" : *value == kInfinity ? "infinity" : std::to_string(*value);
}

std::string Amounts::size(std::optional<std::uint64_t> bytes) const { return raw || !bytes ? number(bytes) : formatSize(*bytes); }

std::string Amounts::duration(std::optional<Microseconds> time) const {
    if (raw || !time)
        return number(time ? std::optional(toUsec(*time)) : std::nullopt);
    return formatDuration(*time);
}

std::string Amounts::quota(std::optional<std::uint64_t> usecPerSecond) const {
    if (raw || !usecPerSecond || *usecPerSecond == kInfinity)
        return number(usecPerSecond);
    return std::to_string(*usecPerSecond / kPercentUsec) + "%";
}

} // namespace pinfold
