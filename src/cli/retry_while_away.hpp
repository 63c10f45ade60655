// SPDX-License-Identifier: LGPL-2.1-or-later
// Repeats the calls of a batch system's prologue and epilogue while pinfoldd or the bus is restarting. A job must not fail
// because somebody restarts pinfoldd or the bus.
#pragma once

#include "bus_client/manager_client.hpp"

#include <chrono>
#include <thread>

namespace pinfold {

constexpr std::chrono::seconds kRetryTime{5}; ///< a restart of pinfoldd or of the bus takes less than one second

/// Makes a call, and repeats the call while neither pinfoldd nor the bus answers. Use retryWhileAway() only for calls that may
/// safely be made twice.
template <class T, class F> Result<T> retryWhileAway(F&& call) {
    const auto deadline = std::chrono::steady_clock::now() + kRetryTime;
    while (true) {
        const auto client = ManagerClient::connect();
        auto result = client ? call(*client) : Result<T>(client.error());
        if (result || result.error().code != ErrorCode::Unreachable || std::chrono::steady_clock::now() >= deadline)
            return result;
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
}

} // namespace pinfold
