// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes calls on the bus. Only the sources in src/bus_client include bus_client/ask.hpp.
#pragma once

#include "base/clock.hpp"
#include "systemd/sdbus_compat.hpp"

#include <cstdint>
#include <string>

namespace pinfold {

/// systemd, the bus and every service except pinfoldd have to answer within kShortTime.
constexpr Microseconds kShortTime = 2s;

/// Makes a call with the time limit kShortTime, and returns the answer. Throws sdbus::Error.
template <class T, class... Args>
T askInShort(sdbus::IProxy& proxy, const std::string& interface, const std::string& method, const Args&... args) {
    T result{};
    proxy.callMethod(method).onInterface(interface).withTimeout(kShortTime).withArguments(args...).storeResultsTo(result);
    return result;
}

} // namespace pinfold
