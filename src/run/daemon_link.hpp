// SPDX-License-Identifier: LGPL-2.1-or-later
// One call to pinfoldd at a time, for a caller that has other things to watch meanwhile.
#pragma once

#include "base/result.hpp"

#include <poll.h>
#include <systemd/sd-bus.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace pinfold {

/// Repeats a call whose answer was lost because pinfoldd or the bus went away: pinfoldd takes the repetition for what it is.
class DaemonLink {
public:
    /// Appends the arguments; a negative errno on failure.
    using Build = std::function<int(sd_bus_message*)>;
    /// Reads the answer; a negative errno on failure.
    using Read = std::function<int(sd_bus_message*)>;

    DaemonLink() = default;
    ~DaemonLink();
    DaemonLink(const DaemonLink&) = delete;
    DaemonLink& operator=(const DaemonLink&) = delete;

    /// Begins a call of org.pinfold1.Manager. `patience`: how long, in microseconds, it is repeated while pinfoldd is away;
    /// UINT64_MAX: for ever.
    void begin(const char* method, std::uint64_t patience, Build build, Read read);

    /// Does what can be done now. The outcome, once there is one: Unreachable, or what pinfoldd says.
    std::optional<Result<void>> advance();

    /// What to wait for before advance() has something to do: the descriptor is -1 when there is only the time-out.
    pollfd waitFor() const;
    /// Milliseconds, -1: none.
    int timeoutMs() const;

    bool connected() const { return bus_ != nullptr; }
    /// Nobody has taken the call: between two tries, or before the bus has let us in.
    bool away() const;
    void close();

private:
    static int onReply(sd_bus_message* reply, void* self, sd_bus_error* unused);
    int send();
    void answered(sd_bus_message* reply);
    void lost(Error error, bool notThere);

    sd_bus* bus_ = nullptr;
    sd_bus_slot* slot_ = nullptr;
    std::string method_;
    Build build_;
    Read read_;
    std::optional<Result<void>> outcome_;
    std::uint64_t begun_ = 0;
    std::uint64_t patience_ = 0;
    std::uint64_t retryAt_ = 0; ///< CLOCK_MONOTONIC microseconds; 0: a try is under way
};

} // namespace pinfold
