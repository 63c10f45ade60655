// SPDX-License-Identifier: LGPL-2.1-or-later
// Stays outside the job, asleep, until the job, or its one task of it, is over.
#pragma once

#include "base/error_code.hpp"

#include "run/child.hpp"
#include "run/daemon_link.hpp"
#include "run/deadline.hpp"
#include "run/job_cgroup.hpp"
#include "run/options.hpp"
#include "run/signals.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace pinfold {

/// Where the wrapper of a batch system does other things than pinfold-run.
struct SupervisorDuties {
    /// In the child, before it becomes the command.
    std::function<void()> inChild = [] {};
    /// A signal for the command has come. False: it shall not be passed on.
    std::function<bool(int signal)> passOn = [](int) { return true; };
    /// The job did not start, and its command does not run. Returns the exit status.
    std::function<int(const Error&)> notStarted;
    /// How the job ended, where the command is not the job itself. `own`: how the command ended.
    std::function<ExitState(const ExitState& own)> exitOfJob = [](const ExitState& own) { return own; };
    /// The job, or the task, is over: nothing of it is left. `exit`: how the command ended. The reply is empty where pinfoldd
    /// gave none that can be used.
    std::function<void(const WrapperReply&, const ExitState& exit)> over;
    bool wantsReceipt = false;
    /// Our standard error is the job's: pinfoldd may write there.
    bool hasJobsOutput = true;
    /// A descriptor to wait for besides, until `watched` returns false. -1: none.
    int watch = -1;
    std::function<bool()> watched = [] { return false; };
};

/// pinfold-run's own: says what there is to say in the job's output.
SupervisorDuties plainDuties();

class Supervisor {
public:
    explicit Supervisor(const RunOptions& options, SupervisorDuties duties = plainDuties())
        : options_(options), duties_(std::move(duties)) {}

    /// Exit status; does not return when the job was ended by a signal.
    int run();
    /// The job's key, once it runs.
    const std::string& key() const { return key_; }

private:
    std::optional<int> create();
    void takeUp(const WrapperReply& created);
    void superviseUntilLeaderGone();
    void endJob();
    /// An answer after which there is nothing more to wait for.
    bool isFinal(const Result<WrapperReply>& answer) const;
    void sayThatWeWait() const;
    int endAsTheJobEnded() const;

    /// Waits for signals and pinfoldd's answers, and handles the first. `timeoutMs`: -1 for ever.
    void waitOnce(int timeoutMs = -1);
    /// Until there is something to do about the request that is under way, and no longer than `limitMs`.
    void waitForAnswer(int limitMs = -1);
    void handleSignals();
    void pass(const signalfd_siginfo& info);
    void reap();
    void stopWithTheJob();
    /// A signal has asked us to end, nobody of the job is left to wait for, and pinfoldd had its moment for an answer.
    bool shallGiveUpWaiting();
    /// What was asked of us before does not count any more.
    void forgetEndRequest();

    const RunOptions& options_;
    SupervisorDuties duties_;
    SignalReader signals_;
    Child child_;
    DaemonLink link_;
    std::string key_;
    std::optional<std::uint32_t> task_;              ///< if it is a further task
    std::optional<JobCgroup> processes_;             ///< unset while nothing of the job runs
    std::map<std::string, std::string> environment_; ///< what pinfoldd adds to the job's
    bool confined_ = false;
    bool leaderStopped_ = false;
    bool terminalStop_ = false;        ///< a terminal told the whole group to stop
    std::optional<int> waitStatus_;    ///< the leader's, once it is gone
    int endRequest_ = 0;               ///< the signal that asked us to end while we waited for pinfoldd
    std::optional<Deadline> lastWait_; ///< for pinfoldd's answer, once nobody is left
};

} // namespace pinfold
