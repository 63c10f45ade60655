// SPDX-License-Identifier: LGPL-2.1-or-later
// Stays outside the job, asleep, until the job is over.
#pragma once

#include "run/child.hpp"
#include "run/daemon_link.hpp"
#include "run/options.hpp"
#include "run/signals.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace pinfold {

class Supervisor {
public:
    explicit Supervisor(const RunOptions& options) : options_(options) {}

    /// Exit status; does not return when the job was ended by a signal.
    int run();

private:
    std::optional<int> create();
    void takeUp(const WrapperReply& created);
    void superviseUntilLeaderGone();
    void endJob();
    int endAsTheJobEnded() const;

    /// Waits for signals and pinfoldd's answers, and handles the first.
    void waitOnce(int timeoutMs);
    void handleSignals();
    void reap();
    void stopWithTheJob();
    bool shallGiveUpWaiting() const { return endRequest_ != 0 && link_.away(); }

    const RunOptions& options_;
    SignalReader signals_;
    Child child_;
    DaemonLink link_;
    std::string key_;
    std::map<std::string, std::string> environment_; ///< what pinfoldd adds to the job's
    bool confined_ = false;
    bool leaderStopped_ = false;
    bool terminalStop_ = false;     ///< a terminal told the whole group to stop
    std::optional<int> waitStatus_; ///< the leader's, once it is gone
    int endRequest_ = 0;            ///< the signal that asked us to end while we waited for pinfoldd
};

} // namespace pinfold
