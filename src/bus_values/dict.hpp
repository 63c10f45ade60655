// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads and writes entries of the dictionaries (a{sv}) of org.pinfold1. If a value is not known, the dictionary has no entry
// for the value.
#pragma once

#include "systemd/sdbus_compat.hpp"

#include <optional>

namespace pinfold {

using bus::Dict;

template <class T> void put(Dict& dict, const char* name, const T& value) { dict.emplace(name, sdbus::Variant(value)); }

template <class T> void put(Dict& dict, const char* name, const std::optional<T>& value) {
    if (value)
        put(dict, name, *value);
}

/// Reads an entry. If the dictionary has no entry with the given name, take() does not change `value`. If the entry has a wrong
/// type, take() throws sdbus::Error.
template <class T> void take(const Dict& dict, const char* name, T& value) {
    if (const auto entry = dict.find(name); entry != dict.end())
        value = entry->second.get<T>();
}

template <class T> void take(const Dict& dict, const char* name, std::optional<T>& value) {
    if (dict.contains(name))
        take(dict, name, value.emplace());
}

} // namespace pinfold
