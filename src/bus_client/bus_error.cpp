// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus_client/bus_error.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace pinfold {
namespace {

/// Returns texts such as "within 30s" and "within 300ms".
std::string inWords(std::chrono::steady_clock::duration waited) {
    if (waited == std::chrono::steady_clock::duration::zero())
        return "in time";
    const auto milliseconds = std::chrono::round<std::chrono::milliseconds>(waited);
    const auto rounded = milliseconds < 1s ? milliseconds : std::chrono::round<std::chrono::seconds>(waited);
    return "within " + formatDuration(rounded);
}

} // namespace

Error fromBusError(const sdbus::Error& error, std::chrono::steady_clock::duration waited) {
    const auto name = dbus::errorName(error);
    const std::string& message = error.getMessage();
    if (const auto code = errorCodeFromDbusName(name))
        return {*code, message};
    auto words = printable(message.empty() ? name : message, 500);
    if (words.ends_with('.')) // systemd ends messages with a period, as in "Unit pinfoldd.service is masked."
        words.pop_back();
    // The errors in the list `slow` mean that pinfoldd has not answered a call in time. org.freedesktop.DBus.Error.TimedOut has
    // another meaning: the bus cannot start pinfoldd.
    constexpr std::array<std::string_view, 3> slow{"org.freedesktop.DBus.Error.Timeout", "System.Error.ETIMEDOUT",
                                                   "org.freedesktop.DBus.Error.NoReply"};
    if (name == "org.freedesktop.DBus.Error.AccessDenied")
        return {ErrorCode::Denied, words};
    if (std::find(slow.begin(), slow.end(), name) != slow.end() && message.find("disconnected") == std::string::npos)
        return {ErrorCode::TimedOut,
                fmt::format("pinfoldd did not answer {}; look at `systemctl status pinfoldd`", inWords(waited))};
    return {ErrorCode::Unreachable, fmt::format("pinfoldd is not reachable: {}; look at `systemctl status pinfoldd`", words)};
}

} // namespace pinfold
