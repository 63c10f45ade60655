// SPDX-License-Identifier: LGPL-2.1-or-later
// Sends pinfoldd one request at a time. While DaemonLink waits for an answer, the caller can watch other descriptors.
#pragma once

#include "base/clock.hpp"
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

/// Holds the time limits for a caller that must not hang while it waits for pinfoldd's answer.
struct Patience {
    Microseconds untilRead = kForever; ///< the longest time for which the caller waits until pinfoldd has read the request
    /// The longest time for which the caller waits until pinfoldd has answered the request.
    Microseconds untilAnswered = kForever;
};

/// Sends requests to pinfoldd. If pinfoldd ends and an answer is lost, DaemonLink sends the request again, and pinfoldd
/// recognizes the repeated request. Some older versions of pinfoldd do not understand requests that contain the identity of a
/// job. During an upgrade of packages, new programs can call an old pinfoldd for some time. If pinfoldd does not know the form of
/// a request with an identity, DaemonLink sends the request again without the identity.
class DaemonLink {
public:
    /// `path` must never come from the environment, because the job controls the environment. A job could start a false
    /// pinfoldd, and the false pinfoldd could report success.
    explicit DaemonLink(std::string path = kWrapperSocket) : path_(std::move(path)) {}

    /// Holds the descriptors of a request; -1 means that the request has no such descriptor. The caller owns the descriptors.
    /// The descriptors must stay open until DaemonLink has returned the outcome.
    struct Descriptors {
        int leader = -1;     ///< the pidfd of the leader
        int supervisor = -1; ///< the pidfd of the supervisor
        int output = -1;     ///< the descriptor of the job's standard error
    };
    void create(WrapperCreate request, Descriptors descriptors);
    /// Repeats the request until pinfoldd answers, even if pinfoldd does not run for a long time. The error is Unreachable if
    /// pinfoldd refuses to start.
    void end(WrapperEnd request);
    /// Waits at most two seconds for the answer, because the caller handles no signal during the wait.
    void suspend(const WrapperSuspend& request);
    void list(const WrapperList& request, Microseconds patience);
    /// The argument `process` is a pidfd.
    void adopt(const WrapperAdopt& request, int process, Microseconds patience);

    /// Continues the request as far as possible, and never waits. Returns the outcome of the request, or nullopt if the outcome
    /// is not known yet. The outcome is pinfoldd's answer, pinfoldd's refusal, or the error Unreachable.
    std::optional<Result<WrapperReply>> advance();

    /// Waits for the outcome. wait() is for callers that need not watch a descriptor of their own. If pinfoldd answers with an
    /// error, wait() fails with the error in the answer. wait() fails with Unreachable or TimedOut if a time limit in
    /// `patience` has passed.
    Result<WrapperReply> wait(const Patience& patience = {});

    /// Returns the descriptor that the caller should poll before the next call of advance(). If DaemonLink has no connection, the
    /// descriptor is -1, and poll(2) only waits for the time-out to pass.
    pollfd waitFor() const { return {socket_.get(), POLLIN, 0}; }
    /// Returns the time-out for poll(2) in milliseconds, or -1 if no time limit is set.
    int timeoutMs() const;

    /// Repeats the request at growing intervals (up to 6.4 s). Call askAgain() to repeat the request after an answer that the
    /// caller does not accept.
    void askAgain();

    /// Returns true if pinfoldd has not read the request.
    bool away() const;
    /// Says why the last attempt got no answer, or why the caller could not accept the answer. The text is empty if nothing has
    /// gone wrong.
    const std::string& trouble() const { return trouble_; }

private:
    void begin(const WrapperRequest& request, Descriptors descriptors, Microseconds patience);
    void attempt();
    void receive();
    void lost(Error error, bool notThere);
    void backOff();

    std::string path_;
    std::string packet_;
    std::string forOlder_; ///< the request without the job's identity; empty if packet_ contains no identity
    std::array<int, 3> descriptors_{-1, -1, -1};
    UniqueFd socket_;
    std::optional<Result<WrapperReply>> outcome_;
    std::string trouble_;
    MonotonicTime begun_{};
    Microseconds interval_{}; ///< the time until the next attempt
    Microseconds patience_{};
    MonotonicTime nextAttempt_{}; ///< the time of the next attempt to connect; has no meaning during a connection
};

} // namespace pinfold
