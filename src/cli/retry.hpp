// SPDX-License-Identifier: LGPL-2.1-or-later
// Repeats calls that pinfoldd cannot answer yet.
#pragma once

#include "bus_client/manager_client.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace pinfold {

/// Makes a call. While the call fails with the error `code`, retryWhile() repeats the call for at most the time `patience`. Use
/// retryWhile() only for calls that do no harm if they are made twice.
template <class F>
auto retryWhile(ErrorCode code, std::chrono::milliseconds patience, std::chrono::milliseconds pause, F&& call) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    auto result = call();
    while (!result && result.error().code == code && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(pause);
        result = call();
    }
    return result;
}

/// Makes a call to pinfoldd for a batch system's prologue or epilogue, and repeats the call while pinfoldd or the bus is
/// restarting. A restart of pinfoldd or of the bus takes less than one second. retryWhileAway() repeats the call for at most 5 s,
/// so a restart does not make a job fail.
template <class T, class F> Result<T> retryWhileAway(F&& call) {
    return retryWhile(ErrorCode::Unreachable, std::chrono::seconds(5), std::chrono::milliseconds(200), [&]() -> Result<T> {
        const auto client = ManagerClient::connect();
        return client ? call(*client) : Result<T>(client.error());
    });
}

/// Makes a call, and repeats the call while pinfoldd answers Busy. If a user has made many calls, pinfoldd answers Busy for a
/// while. Verbs that make one call for each job often make many calls.
template <class F> auto retryWhileBusy(F&& call) {
    return retryWhile(ErrorCode::Busy, std::chrono::seconds(3), std::chrono::milliseconds(100), std::forward<F>(call));
}

} // namespace pinfold
