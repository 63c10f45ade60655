// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads and writes entries of the dictionaries (a{sv}) of org.pinfold1. If a value is not known, the dictionary has no entry
// for the value.
#pragma once

#include "base/clock.hpp"
#include "systemd/sdbus_compat.hpp"

#include <cstdint>
#include <optional>

namespace pinfold {

using dbus::Dict;

/// Adds an entry to the dictionary. On the bus, a duration or a time is a number of microseconds.
template <class T> void put(Dict& dict, const char* name, const T& value) {
    if constexpr (kIsTime<T>)
        dict.emplace(name, sdbus::Variant(toUsec(value)));
    else
        dict.emplace(name, sdbus::Variant(value));
}

template <class T> void put(Dict& dict, const char* name, const std::optional<T>& value) {
    if (value)
        put(dict, name, *value);
}

/// Reads an entry of the dictionary. If the dictionary has no entry with the given name, take() does not change `value`. If the
/// entry has a wrong type, take() throws sdbus::Error.
template <class T> void take(const Dict& dict, const char* name, T& value) {
    const auto entry = dict.find(name);
    if (entry == dict.end())
        return;
    if constexpr (kIsTime<T>)
        value = fromUsec<T>(entry->second.get<std::uint64_t>());
    else
        value = entry->second.get<T>();
}

template <class T> void take(const Dict& dict, const char* name, std::optional<T>& value) {
    if (dict.contains(name))
        take(dict, name, value.emplace());
}

} // namespace pinfold
