// SPDX-License-Identifier: LGPL-2.1-or-later
// For this folder's sources.
#pragma once

#include "systemd/sdbus_compat.hpp"

#include <cstdint>
#include <string>

namespace pinfold {

/// What others on the bus, such as systemd, get to answer: microseconds.
constexpr std::uint64_t kShortTime = 2'000'000;

/// Throws sdbus::Error.
template <class T, class... Args>
T askInShort(sdbus::IProxy& proxy, const std::string& interface, const std::string& method, const Args&... args) {
    T result{};
    proxy.callMethod(method).onInterface(interface).withTimeout(kShortTime).withArguments(args...).storeResultsTo(result);
    return result;
}

} // namespace pinfold
