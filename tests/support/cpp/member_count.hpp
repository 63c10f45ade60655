// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <utility>

namespace pinfold {

/// Converts to every type. The compiler accepts as many AnyValues in the initializer of a struct as the struct has members.
struct AnyValue {
    template <class T> operator T() const;
};

/// Returns the number of data members of a struct without constructors.
template <class Struct, std::size_t... index> consteval std::size_t memberCount(std::index_sequence<index...>) {
    if constexpr (requires { Struct{(void(index), AnyValue{})..., AnyValue{}}; })
        return memberCount<Struct>(std::make_index_sequence<sizeof...(index) + 1>());
    else
        return sizeof...(index);
}
template <class Struct> constexpr std::size_t kMembers = memberCount<Struct>(std::index_sequence<>());

} // namespace pinfold
