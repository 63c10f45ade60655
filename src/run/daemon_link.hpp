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

    /// -1: there is none. The descriptors stay the caller's, open until there is an outcome.
    struct Descriptors {
        int leader = -1;     ///< pidfd
        int supervisor = -1; ///< pidfd
        int output = -1;     ///< standard error
    };
    void create(WrapperCreate request, Descriptors descriptors);
    /// Asks until there is an answer, however long pinfoldd is away. Unreachable is an answer: pinfoldd does not start.
    void end(WrapperEnd request);
    /// Asks for two seconds: a signal is waiting for it.
    void suspend(const WrapperSuspend& request);
    /// `patience`: microseconds.
    void list(const WrapperList& request, std::uint64_t patience);
    /// `process`: pidfd.
    void adopt(const WrapperAdopt& request, int process, std::uint64_t patience);

    /// Does what can be done now. The outcome, once there is one: pinfoldd's answer, Unreachable, or why pinfoldd refuses.
    std::optional<Result<WrapperReply>> advance();

    /// What to wait for before advance() has something to do: the descriptor is -1 when there is only the time-out.
    pollfd waitFor() const { return {socket_.get(), POLLIN, 0}; }
    /// Milliseconds, -1: none.
    int timeoutMs() const;

    /// The outcome does not do: asks the same again, more and more seldom (every 6.4 s at last).
    void askAgain();

    /// Nobody has read the request.
    bool away() const;
    /// Why there was no answer, or none that would do, when it was asked for last. Empty: nothing has gone wrong.
    const std::string& trouble() const { return trouble_; }

private:
    void begin(const WrapperRequest& request, Descriptors descriptors, std::uint64_t patience);
    void attempt();
    void receive();
    void lost(Error error, bool notThere);
    void backOff();

    std::string path_;
    std::string packet_;
    std::array<int, 3> descriptors_{-1, -1, -1};
    UniqueFd socket_;
    std::optional<Result<WrapperReply>> outcome_;
    std::string trouble_;
    std::uint64_t begun_ = 0;
    std::uint64_t interval_ = 0;    ///< microseconds, to the next attempt
    std::uint64_t patience_ = 0;    ///< microseconds, UINT64_MAX: for ever
    std::uint64_t nextAttempt_ = 0; ///< CLOCK_MONOTONIC microseconds, while there is no connection
};

} // namespace pinfold
