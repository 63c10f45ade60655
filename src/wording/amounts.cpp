// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wording/amounts.hpp"

#include "base/parse.hpp"

#include <array>
#include <ctime>

namespace pinfold {

namespace {

constexpr std::uint64_t kPercentUsec = 10'000; // the number of microseconds in 1 % of a second

std::string twoDigits(std::uint64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); }

} // namespace

std::string Amounts::number(std::optional<std::uint64_t> value) {
    return !value ? "-" : *value == kInfinity ? "infinity" : std::to_string(*value);
}

std::string Amounts::size(std::optional<std::uint64_t> bytes) const { return raw || !bytes ? number(bytes) : formatSize(*bytes); }

std::string Amounts::duration(std::optional<Microseconds> time) const {
    if (raw || !time)
        return number(time ? std::optional(toUsec(*time)) : std::nullopt);
    return formatDuration(*time);
}

std::string Amounts::runTime(std::optional<Microseconds> time) const {
    if (raw || !time || *time == kForever || *time < 1s)
        return duration(time);
    const auto clock = ":" + twoDigits(*time / 1min % 60) + ":" + twoDigits(*time / 1s % 60);
    if (*time < 24h)
        return std::to_string(*time / 1h) + clock;
    return std::to_string(*time / 24h) + "-" + twoDigits(*time / 1h % 24) + clock;
}

std::string Amounts::time(RealTime time) const { return local ? formatLocal(time) : formatUtc(time); }

std::string formatLocal(RealTime time) {
    const auto seconds = static_cast<std::time_t>(time.time_since_epoch() / 1s);
    std::tm parts{};
    std::array<char, 64> buffer{};
    if (!::localtime_r(&seconds, &parts) || std::strftime(buffer.data(), buffer.size(), "%Y-%m-%dT%H:%M:%S%z", &parts) == 0)
        return "?";
    if (parts.tm_gmtoff == 0)
        return formatUtc(time);
    const std::string text = buffer.data();
    return text.substr(0, text.size() - 2) + ":" + text.substr(text.size() - 2);
}

std::string Amounts::quota(std::optional<std::uint64_t> usecPerSecond) const {
    if (raw || !usecPerSecond || *usecPerSecond == kInfinity)
        return number(usecPerSecond);
    return std::to_string(*usecPerSecond / kPercentUsec) + "%";
}

} // namespace pinfold
