// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/format.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"
#include "wording/amounts.hpp"

#include <fmt/core.h>

#include <pwd.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <unordered_map>

namespace pinfold {
namespace {

constexpr Microseconds kDay = 24h;

std::optional<RealTime> fromSeconds(std::time_t seconds) {
    return seconds < 0 ? std::nullopt : std::optional(RealTime(std::chrono::seconds(seconds)));
}

std::optional<RealTime> parseLocal(const std::string& text) {
    for (const char* form : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"}) {
        std::tm parts{};
        const char* end = ::strptime(text.c_str(), form, &parts);
        parts.tm_isdst = -1; // the value -1 tells mktime() to find out whether it is summer time
        if (end && *end == '\0')
            return fromSeconds(std::mktime(&parts));
    }
    return std::nullopt;
}

std::optional<RealTime> parseWithZone(const std::string& text) {
    std::tm parts{};
    const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S%z", &parts);
    if (!end || *end != '\0')
        return std::nullopt;
    const auto offset = parts.tm_gmtoff; // timegm() changes it
    return fromSeconds(::timegm(&parts) - offset);
}

std::optional<RealTime> beginOfDay(RealTime now) {
    const auto seconds = static_cast<std::time_t>(now.time_since_epoch() / 1s);
    std::tm parts{};
    if (!::localtime_r(&seconds, &parts))
        return std::nullopt;
    parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
    parts.tm_isdst = -1;
    return fromSeconds(std::mktime(&parts));
}

} // namespace

std::string userName(uid_t uid) {
    // userName() keeps each name that it has looked up, because each look-up reads at least one file. In a list of jobs, many
    // rows have the same user.
    static std::unordered_map<uid_t, std::string> known;
    auto& name = known[uid];
    if (name.empty()) {
        const passwd* user = ::getpwuid(uid);
        name = user ? printable(user->pw_name, 64) : std::to_string(uid);
    }
    return name;
}

std::string exitText(const ExitState& exit) {
    return exit.signal ? signalName(*exit.signal) : exit.status ? std::to_string(*exit.status) : "-";
}

Result<uid_t> userId(const std::string& text) {
    if (const auto number = parseUnsigned(text); number && *number < UINT32_MAX)
        return static_cast<uid_t>(*number);
    if (const passwd* user = ::getpwnam(text.c_str()))
        return user->pw_uid;
    return Error{ErrorCode::InvalidArgument, fmt::format("unknown user '{}'", printable(text, 100))};
}

std::string formatShort(RealTime time, RealTime now) {
    const auto full = formatLocal(time); // for example 2026-11-20T12:00:00Z
    const auto distance = std::max(time, now) - std::min(time, now);
    return full.size() < 16 || distance > 180 * kDay ? full.substr(0, 10) : full.substr(5, 5) + " " + full.substr(11, 5);
}

Result<RealTime> parseWhen(const std::string& text, RealTime now) {
    if (text == "now")
        return now;
    if (text == "today")
        if (const auto begin = beginOfDay(now))
            return *begin;
    if (text.starts_with("-"))
        if (const auto ago = parseDuration(text.substr(1)); ago && *ago <= now.time_since_epoch())
            return now - *ago;
    if (const auto time = parseWithZone(text))
        return *time;
    if (const auto time = parseLocal(text))
        return *time;
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("time '{}' is not valid: use 2026-11-20, \"2026-11-20 12:00\", -1h, today or now", printable(text, 100))};
}

} // namespace pinfold
