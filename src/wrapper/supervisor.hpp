// SPDX-License-Identifier: LGPL-2.1-or-later
// Starts a command as a job or task. The supervisor stays outside of the job, and sleeps until the job or task is over.
#pragma once

#include "base/deadline.hpp"
#include "base/error_code.hpp"
#include "socket_client/daemon_link.hpp"
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

/// Holds functions that the supervisor calls. The wrapper of a batch system can replace each function by a function of the
/// wrapper.
struct SupervisorDuties {
    /// The child calls inChild before the child executes the command.
    std::function<void()> inChild = [] {};
    /// The supervisor calls passOn when it has received a signal for the command. If passOn returns false, the supervisor does
    /// not send the signal to the command.
    std::function<bool(int signal)> passOn = [](int) { return true; };
    /// If the job did not start, the supervisor does not run the command, and calls notStarted. Returns the exit status.
    std::function<int(const Error&)> notStarted;
    /// Returns how the job ended. If a wrapper's command exits with a status that is not the status of the job, the wrapper sets
    /// exitOfJob. `own` says how the command ended.
    std::function<ExitState(const ExitState& own)> exitOfJob = [](const ExitState& own) { return own; };
    /// The supervisor calls `over` when the job or task is over and has no processes left. `exit` says how the command ended.
    /// The WrapperReply is empty if pinfoldd gave no usable reply.
    std::function<void(const WrapperReply&, const ExitState& exit)> over;
    bool wantsReceipt = false;
    /// Says whether the standard error of this program is the job's standard error. If hasJobsOutput is true, pinfoldd is
    /// allowed to write to the job's standard error.
    bool hasJobsOutput = true;
    /// While the supervisor waits, the supervisor calls `watched` each time the descriptor `watch` can be read. When `watched`
    /// returns false, the supervisor ignores the descriptor from then on. If `watch` is -1, the supervisor never calls
    /// `watched`.
    int watch = -1;
    std::function<bool()> watched = [] { return false; };
};

/// Returns the SupervisorDuties that pinfold-run uses. pinfold-run writes messages to the job's output.
SupervisorDuties plainDuties();

class Supervisor {
public:
    explicit Supervisor(const WrappedCommand& job, SupervisorDuties duties = plainDuties())
        : job_(job), duties_(std::move(duties)) {}

    /// Runs the command as a job, and returns the exit status. If a signal ended the job, run() does not return.
    int run();
    /// Returns the job's key. The supervisor learns the job's key when the job starts.
    const std::string& key() const { return key_; }

private:
    std::optional<int> create();
    void takeUp(const WrapperReply& created);
    void superviseUntilLeaderGone();
    void endJob();
    /// Returns true if the supervisor can stop waiting after the answer `answer`.
    bool isFinal(const Result<WrapperReply>& answer) const;
    void sayThatWeWait() const;
    int endAsTheJobEnded() const;

    /// Waits until a signal comes or pinfoldd answers, and handles the signal or the answer. `timeoutMs` is -1 for a wait
    /// without a limit.
    void waitOnce(int timeoutMs = -1);
    /// Waits until pinfoldd answers, a signal comes, or the next attempt is due. waitForAnswer() waits at most `limitMs`
    /// milliseconds.
    void waitForAnswer(int limitMs = -1);
    void handleSignals();
    void pass(const signalfd_siginfo& info);
    void reap();
    void stopWithTheJob();
    /// Returns true if the supervisor should no longer wait for pinfoldd's answer. After a signal has asked this program to end,
    /// the supervisor first waits until no process of the job is left. When no process of the job is left, the supervisor sets a
    /// deadline for pinfoldd's answer. When the deadline for pinfoldd's answer has passed, the function returns true.
    bool shallGiveUpWaiting();
    /// Forgets that a signal has asked this program to end.
    void forgetEndRequest();

    const WrappedCommand& job_;
    SupervisorDuties duties_;
    SignalReader signals_;
    Child child_;
    DaemonLink link_;
    std::string key_;
    std::optional<std::uint32_t> task_;              ///< the number of the task; unset if the command is task 0 of the job
    std::optional<JobCgroup> processes_;             ///< watches the job's processes; unset until the job has its first process
    std::map<std::string, std::string> environment_; ///< the variables that pinfoldd adds to the job's environment
    bool confined_ = false;
    bool leaderStopped_ = false;
    bool terminalStop_ = false;     ///< a terminal has stopped the whole process group
    std::optional<int> waitStatus_; ///< the leader's wait status; set when the leader has ended
    /// While this program waited for pinfoldd, the signal `endRequest_` asked this program to end. 0 if no signal came.
    int endRequest_ = 0;
    /// the deadline for pinfoldd's answer; unset until a signal has asked this program to end and no process of the job is left
    std::optional<Deadline> lastWait_;
};

} // namespace pinfold
