// SPDX-License-Identifier: LGPL-2.1-or-later
// Starts a command as a job or task. The supervisor stays outside of the job, and sleeps until the job or task is over.
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

/// Holds functions by which the wrapper of a batch system can differ from pinfold-run.
struct SupervisorDuties {
    /// The child calls inChild before it becomes the command.
    std::function<void()> inChild = [] {};
    /// The supervisor calls passOn when a signal for the command has come. If passOn returns false, the supervisor does not pass
    /// the signal on.
    std::function<bool(int signal)> passOn = [](int) { return true; };
    /// The supervisor calls notStarted when the job did not start, so that its command does not run. Returns the exit status.
    std::function<int(const Error&)> notStarted;
    /// Returns how the job ended, if the command is not the job itself. `own` says how the command ended.
    std::function<ExitState(const ExitState& own)> exitOfJob = [](const ExitState& own) { return own; };
    /// The supervisor calls `over` when the job or task is over and no process of it is left. `exit` says how the command ended.
    /// The reply is empty if pinfoldd gave no usable reply.
    std::function<void(const WrapperReply&, const ExitState& exit)> over;
    bool wantsReceipt = false;
    /// If true, this program's standard error is also the job's, and pinfoldd may write to it.
    bool hasJobsOutput = true;
    /// A further descriptor to wait for, until `watched` returns false; -1 if there is none.
    int watch = -1;
    std::function<bool()> watched = [] { return false; };
};

/// Returns the duties of pinfold-run itself, which writes messages to the job's output.
SupervisorDuties plainDuties();

class Supervisor {
public:
    explicit Supervisor(const WrappedCommand& job, SupervisorDuties duties = plainDuties())
        : job_(job), duties_(std::move(duties)) {}

    /// Runs the command as a job, and returns the exit status. Does not return if a signal ended the job.
    int run();
    /// Returns the job's key. The key is known when the job runs.
    const std::string& key() const { return key_; }

private:
    std::optional<int> create();
    void takeUp(const WrapperReply& created);
    void superviseUntilLeaderGone();
    void endJob();
    /// Returns true if there is nothing more to wait for after this answer.
    bool isFinal(const Result<WrapperReply>& answer) const;
    void sayThatWeWait() const;
    int endAsTheJobEnded() const;

    /// Waits for signals and pinfoldd's answers, and handles the first. `timeoutMs` may be -1 (for ever).
    void waitOnce(int timeoutMs = -1);
    /// Waits until there is something to do about the request that is under way, but no longer than `limitMs`.
    void waitForAnswer(int limitMs = -1);
    void handleSignals();
    void pass(const signalfd_siginfo& info);
    void reap();
    void stopWithTheJob();
    /// Returns true if a signal has asked this program to end, no process of the job is left, and pinfoldd has had its time for
    /// an answer.
    bool shallGiveUpWaiting();
    /// Forgets the signal that asked this program to end.
    void forgetEndRequest();

    const WrappedCommand& job_;
    SupervisorDuties duties_;
    SignalReader signals_;
    Child child_;
    DaemonLink link_;
    std::string key_;
    std::optional<std::uint32_t> task_;              ///< set if the command is a further task
    std::optional<JobCgroup> processes_;             ///< unset while no process of the job runs
    std::map<std::string, std::string> environment_; ///< variables that pinfoldd adds to the job's environment
    bool confined_ = false;
    bool leaderStopped_ = false;
    bool terminalStop_ = false;        ///< a terminal told the whole process group to stop
    std::optional<int> waitStatus_;    ///< the leader's wait status, set when the leader has ended
    int endRequest_ = 0;               ///< the signal that asked this program to end while it waited for pinfoldd
    std::optional<Deadline> lastWait_; ///< when no process is left, the wait for pinfoldd's answer ends at this time
};

} // namespace pinfold
