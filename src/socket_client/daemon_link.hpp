// SPDX-License-Identifier: LGPL-2.1-or-later
// Sends pinfoldd one request at a time. The caller may watch other things meanwhile.
#pragma once

#include "base/paths.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "model/wrapper_protocol.hpp"

#include <poll.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace pinfold {

/// Time limits of a wait, in microseconds, for a caller that must not hang.
struct Patience {
    std::uint64_t untilRead = UINT64_MAX;     ///< for the time in which no pinfoldd reads the request
    std::uint64_t untilAnswered = UINT64_MAX; ///< in all
};

/// Repeats a request whose answer was lost because pinfoldd went away. pinfoldd recognizes the repetition.
class DaemonLink {
public:
    /// `path` must never come from the environment, which is the job's: a pinfoldd of the job's own making could say that all is
    /// well.
    explicit DaemonLink(std::string path = kWrapperSocket) : path_(std::move(path)) {}

    /// -1: there is no such descriptor. The caller keeps the descriptors, and must keep them open until there is an outcome.
    struct Descriptors {
        int leader = -1;     ///< pidfd
        int supervisor = -1; ///< pidfd
        int output = -1;     ///< standard error
    };
    void create(WrapperCreate request, Descriptors descriptors);
    /// Asks until there is an answer, however long pinfoldd is away. Unreachable is an answer, too: pinfoldd does not start.
    void end(WrapperEnd request);
    /// Asks for at most two seconds, because a signal waits for the answer.
    void suspend(const WrapperSuspend& request);
    /// `patience`: microseconds.
    void list(const WrapperList& request, std::uint64_t patience);
    /// `process`: pidfd.
    void adopt(const WrapperAdopt& request, int process, std::uint64_t patience);

    /// Does what can be done now. Returns the outcome, once there is one: pinfoldd's answer, Unreachable, or why pinfoldd
    /// refuses.
    std::optional<Result<WrapperReply>> advance();

    /// Waits for the outcome, for a caller that watches nothing else. Errors: also Unreachable or TimedOut when a time limit is
    /// over.
    Result<WrapperReply> wait(const Patience& patience = {});

    /// What to wait for before advance() has something to do. The descriptor is -1 when there is only the time-out.
    pollfd waitFor() const { return {socket_.get(), POLLIN, 0}; }
    /// The time-out in milliseconds; -1: none.
    int timeoutMs() const;

    /// Call this when the outcome is not acceptable. Asks the same again, at growing intervals (up to 6.4 s).
    void askAgain();

    /// True: pinfoldd has not read the request.
    bool away() const;
    /// Why the last try gave no answer, or no acceptable one. Empty: nothing has gone wrong.
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
    std::uint64_t interval_ = 0;    ///< microseconds until the next attempt
    std::uint64_t patience_ = 0;    ///< microseconds, UINT64_MAX: for ever
    std::uint64_t nextAttempt_ = 0; ///< CLOCK_MONOTONIC, microseconds; used while there is no connection
};

} // namespace pinfold
