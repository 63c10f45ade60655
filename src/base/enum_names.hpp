// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinfold {

/// Returns true if the enumeration has an enumerator for the value. In __PRETTY_FUNCTION__, the compiler writes a value without
/// an enumerator as "(pinfold::E)4".
template <auto value> consteval bool isEnumerator() {
    return std::string_view(__PRETTY_FUNCTION__).find("= (") == std::string_view::npos;
}

/// Maps the values of an enumeration to names, and names to values. The enumeration must count from 0. If a value of the
/// enumeration has no name, the program does not compile.
template <class Enum, std::size_t N> class EnumNames {
public:
    consteval explicit EnumNames(const std::pair<Enum, std::string_view> (&rows)[N]) {
        static_assert(!isEnumerator<static_cast<Enum>(N)>(), "a value of the enumeration has no name here");
        for (std::size_t i = 0; i < N; ++i) {
            if (rows[i].first != static_cast<Enum>(i))
                throw "the names are not in the order of the enumeration";
            names_[i] = rows[i].second;
        }
    }

    constexpr std::string_view operator[](Enum value) const { return names_[static_cast<std::size_t>(value)]; }

    /// Returns the value with the given name, or nullopt if no value has the name.
    constexpr std::optional<Enum> find(std::string_view text) const {
        for (std::size_t i = 0; i < N; ++i)
            if (names_[i] == text)
                return static_cast<Enum>(i);
        return std::nullopt;
    }

    /// Returns the names of all enumerators, in the order of the enumeration.
    std::vector<std::string> all() const { return {names_.begin(), names_.end()}; }

private:
    std::array<std::string_view, N> names_{};
};

template <class Enum, std::size_t N> consteval EnumNames<Enum, N> enumNames(const std::pair<Enum, std::string_view> (&rows)[N]) {
    return EnumNames<Enum, N>(rows);
}

} // namespace pinfold
