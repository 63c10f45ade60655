// SPDX-License-Identifier: LGPL-2.1-or-later
// One request to pinfoldd at a time, for a caller that has other things to watch meanwhile.
#pragma once

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "model/wrapper_protocol.hpp"

#include <poll.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace pinfold {

/// Repeats a request whose answer was lost because pinfoldd went away: pinfoldd takes the repetition for what it is.
class DaemonLink {
public:
    /// Never a path from the environment, which is the job's: a pinfoldd of its own making could say that all is well.
    explicit DaemonLink(std::string path = kWrapperSocket) : path_(std::move(path)) {}

    /// -1: no such process. The descriptors stay the caller's, open until there is an outcome.
    struct Pidfds {
        int leader = -1;
        int supervisor = -1;
    };
    void create(const WrapperCreate& request, Pidfds pidfds);
    /// Asks until there is an answer, however long pinfoldd is away.
    void end(const WrapperEnd& request);

    /// Does what can be done now. The outcome, once there is one: the job's key, Unreachable, or what pinfoldd says.
    std::optional<Result<std::string>> advance();

    /// What to wait for before advance() has something to do: the descriptor is -1 when there is only the time-out.
    pollfd waitFor() const { return {socket_.get(), POLLIN, 0}; }
    /// Milliseconds, -1: none.
    int timeoutMs() const;

    /// Nobody has read the request.
    bool away() const;

private:
    void begin(const WrapperRequest& request, Pidfds pidfds, std::uint64_t patience);
    void attempt();
    void receive();
    void lost(Error error, bool notThere);

    std::string path_;
    std::string packet_;
    std::array<int, 2> pidfds_{-1, -1};
    UniqueFd socket_;
    std::optional<Result<std::string>> outcome_;
    std::uint64_t begun_ = 0;
    std::uint64_t patience_ = 0;    ///< microseconds, UINT64_MAX: for ever
    std::uint64_t nextAttempt_ = 0; ///< CLOCK_MONOTONIC microseconds, while there is no connection
};

} // namespace pinfold
