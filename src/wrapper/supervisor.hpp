// SPDX-License-Identifier: LGPL-2.1-or-later
// The supervisor stays outside of the job, asleep, until the job, or the task that it started, is over.
#pragma once

#include "base/error_code.hpp"

#include "socket_client/daemon_link.hpp"
#include "socket_client/deadline.hpp"
#include "wrapper/child.hpp"
#include "wrapper/job_cgroup.hpp"
#include "wrapper/signals.hpp"
#include "wrapper/wrapped_command.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace pinfold {

/// What the wrapper of a batch system can do otherwise than pinfold-run.
struct SupervisorDuties {
    /// Called in the child, before it becomes the command.
    std::function<void()> inChild = [] {};
    /// Called when a signal for the command has come. False: do not pass it on.
    std::function<bool(int signal)> passOn = [](int) { return true; };
    /// Called when the job did not start, so that its command does not run. Returns the exit status.
    std::function<int(const Error&)> notStarted;
    /// Tells how the job ended, if the command is not the job itself. `own`: how the command ended.
    std::function<ExitState(const ExitState& own)> exitOfJob = [](const ExitState& own) { return own; };
    /// Called when the job, or the task, is over, and nothing of it is left. `exit`: how the command ended. The reply is empty if
    /// pinfoldd gave no usable one.
    std::function<void(const WrapperReply&, const ExitState& exit)> over;
    bool wantsReceipt = false;
    /// True: our standard error is also the job's, and pinfoldd may write there.
    bool hasJobsOutput = true;
    /// A further descriptor to wait for, until `watched` returns false. -1: none.
    int watch = -1;
    std::function<bool()> watched = [] { return false; };
};

/// The duties of pinfold-run itself: it writes messages to the job's output.
SupervisorDuties plainDuties();

class Supervisor {
public:
    explicit Supervisor(const WrappedCommand& job, SupervisorDuties duties = plainDuties())
        : job_(job), duties_(std::move(duties)) {}

    /// Runs the command as a job, and returns the exit status. Does not return if a signal ended the job.
    int run();
    /// The job's key, once it runs.
    const std::string& key() const { return key_; }

private:
    std::optional<int> create();
    void takeUp(const WrapperReply& created);
    void superviseUntilLeaderGone();
    void endJob();
    /// True: after this answer there is nothing more to wait for.
    bool isFinal(const Result<WrapperReply>& answer) const;
    void sayThatWeWait() const;
    int endAsTheJobEnded() const;

    /// Waits for signals and pinfoldd's answers, and handles the first. `timeoutMs`: -1 for ever.
    void waitOnce(int timeoutMs = -1);
    /// Waits until there is something to do about the request that is under way, but no longer than `limitMs`.
    void waitForAnswer(int limitMs = -1);
    void handleSignals();
    void pass(const signalfd_siginfo& info);
    void reap();
    void stopWithTheJob();
    /// True: a signal has asked us to end, no process of the job is left to wait for, and pinfoldd had its time for an answer.
    bool shallGiveUpWaiting();
    /// Forgets the signal that asked us to end.
    void forgetEndRequest();

    const WrappedCommand& job_;
    SupervisorDuties duties_;
    SignalReader signals_;
    Child child_;
    DaemonLink link_;
    std::string key_;
    std::optional<std::uint32_t> task_;              ///< set if the command is a further task
    std::optional<JobCgroup> processes_;             ///< unset while nothing of the job runs
    std::map<std::string, std::string> environment_; ///< variables that pinfoldd adds to the job's environment
    bool confined_ = false;
    bool leaderStopped_ = false;
    bool terminalStop_ = false;        ///< a terminal told the whole group to stop
    std::optional<int> waitStatus_;    ///< the leader's, once it has ended
    int endRequest_ = 0;               ///< the signal that asked us to end while we waited for pinfoldd
    std::optional<Deadline> lastWait_; ///< ends the wait for pinfoldd's answer, once no process is left
};

} // namespace pinfold
