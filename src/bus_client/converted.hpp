// SPDX-License-Identifier: LGPL-2.1-or-later
// Contains code that all classes with a connection to pinfoldd need. Only the sources in src/bus_client include
// bus_client/converted.hpp.
#pragma once

#include "base/bus_names.hpp"
#include "base/result.hpp"
#include "bus_client/bus_error.hpp"
#include "bus_client/daemon_state.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <type_traits>

namespace pinfold {

/// Makes a call on the bus, and turns exceptions of sdbus-c++ into errors.
template <class F> auto converted(F&& call) -> Result<decltype(call())> {
    const auto begun = std::chrono::steady_clock::now();
    try {
        if constexpr (std::is_void_v<decltype(call())>) {
            call();
            return {};
        } else {
            return call();
        }
    } catch (const sdbus::Error& error) {
        return fromBusError(error, std::chrono::steady_clock::now() - begun);
    }
}

/// Makes an Impl, the private data of a client. The Impl must have the members `connection`, a connection to the system bus,
/// and `manager`, the proxy of pinfoldd's manager object. `name` is one of pinfoldd's names on the bus. Error: Unreachable.
template <class Impl> Result<std::unique_ptr<Impl>> connected(const std::string& name = kBusName) {
    Result<void> checked;
    auto impl = converted([&checked, &name] {
        auto made = std::make_unique<Impl>();
        made->connection = dbus::systemBus();
        checked = checkDaemon(*made->connection);
        made->manager = dbus::makeProxy(*made->connection, name, kManagerPath);
        return made;
    });
    if (!checked)
        return checked.error();
    return impl ? std::move(impl) : Result<std::unique_ptr<Impl>>(Error{ErrorCode::Unreachable, impl.error().message});
}

} // namespace pinfold
