// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/format.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"

#include <fmt/core.h>

#include <pwd.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <unordered_map>

namespace pinfold {
namespace {

constexpr Microseconds kDay = 24h;

std::optional<RealTime> parseUtc(const std::string& text) {
    for (const char* form : {"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"}) {
        std::tm parts{};
        const char* end = ::strptime(text.c_str(), form, &parts);
        if (end && *end == '\0')
            return RealTime(std::chrono::seconds(::timegm(&parts)));
    }
    return std::nullopt;
}

} // namespace

std::string userName(uid_t uid) {
    static std::unordered_map<uid_t, std::string> known; // a look-up reads at least a file, and lists have many rows of few users
    auto& name = known[uid];
    if (name.empty()) {
        const passwd* user = ::getpwuid(uid);
        name = user ? printable(user->pw_name, 64) : std::to_string(uid);
    }
    return name;
}

Result<uid_t> userId(const std::string& text) {
    if (const auto number = parseUnsigned(text); number && *number < UINT32_MAX)
        return static_cast<uid_t>(*number);
    if (const passwd* user = ::getpwnam(text.c_str()))
        return user->pw_uid;
    return Error{ErrorCode::InvalidArgument, fmt::format("unknown user '{}'", printable(text, 100))};
}

std::string formatShortUtc(RealTime time, RealTime now) {
    const auto full = formatUtc(time); // for example 2026-11-20T12:00:00Z
    const auto distance = std::max(time, now) - std::min(time, now);
    return full.size() < 16 || distance > 180 * kDay ? full.substr(0, 10) : full.substr(5, 5) + " " + full.substr(11, 5);
}

Result<RealTime> parseWhen(const std::string& text, RealTime now) {
    if (text == "now")
        return now;
    if (text == "today")
        return RealTime(now.time_since_epoch() / kDay * kDay);
    if (text.starts_with("-"))
        if (const auto ago = parseDuration(text.substr(1)); ago && *ago <= now.time_since_epoch())
            return now - *ago;
    if (const auto utc = parseUtc(text))
        return *utc;
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("time '{}' is not valid: use 2026-11-20, \"2026-11-20 12:00\", -1h, today or now (UTC)",
                             printable(text, 100))};
}

} // namespace pinfold
