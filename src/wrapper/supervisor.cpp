// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wrapper/supervisor.hpp"

#include "base/deadline.hpp"
#include "base/error_code.hpp"
#include "base/parse.hpp"
#include "base/pidfd.hpp"
#include "base/unique_fd.hpp"
#include "socket_client/failure_policy.hpp"
#include "socket_client/say.hpp"
#include "wrapper/command.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>

namespace pinfold {
namespace {

constexpr Microseconds kSayWaitingAfter = 30s;
constexpr Microseconds kLastWordsMost = 5s;
// When a signal asks the supervisor to end, pinfoldd has possibly already sent an answer. The supervisor waits for the answer
// for at most kLastWait.
constexpr Microseconds kLastWait = 500ms;
// If a signal has asked the supervisor to end, the supervisor checks every kLookAgainMs milliseconds whether processes of the job
// are left.
constexpr int kLookAgainMs = 100;

bool asksToEnd(int signal) { return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT; }

ExitState exitState(int waitStatus) {
    if (WIFEXITED(waitStatus))
        return {.status = WEXITSTATUS(waitStatus), .signal = {}};
    return {.status = {}, .signal = WTERMSIG(waitStatus)};
}

void writeLastWords(const WrapperReply& words) {
    const Deadline deadline(kLastWordsMost);
    writeInTime(STDERR_FILENO, words.notice, deadline);
    writeInTime(STDOUT_FILENO, words.summary, deadline);
}

/// Closes the output of this process, and starts a child process that calls `write`. Waits until the child has ended, but no
/// longer than `most`. Returns false if the child cannot be started.
bool writeFromChild(const std::function<void()>& write, Microseconds most) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return false;
    const UniqueFd readEnd(ends[0]);
    UniqueFd writeEnd(ends[1]);
    const pid_t child = ::fork();
    if (child < 0)
        return false;
    if (child == 0) {
        writeEnd.reset();
        char none = 0;
        (void)!::read(readEnd.get(), &none, 1); // read(2) returns when the parent closes its `writeEnd`
        write();
        ::_exit(0);
    }
    if (const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC)); nowhere) {
        ::dup2(nowhere.get(), STDOUT_FILENO);
        ::dup2(nowhere.get(), STDERR_FILENO);
    }
    writeEnd.reset();
    const auto writer = pidfdOf(child);
    pollfd ended{writer.get(), POLLIN, 0};
    ::poll(&ended, 1, pollTimeout(most));
    return true;
}

/// Writes pinfoldd's messages about the job's end to the job's own output. If the output is on a file server that hangs,
/// write(2) waits for the server, and no signal ends the wait. While a write(2) to a file waits, a close(2) of the same file
/// waits, too. sayLastWords() starts a child process that writes the messages, and closes the output in the supervisor. Only the
/// child process waits for the file server.
void sayLastWords(const WrapperReply& words) {
    if (words.notice.empty() && words.summary.empty())
        return;
    const auto write = [&words] { writeLastWords(words); };
    if (!writeFromChild(write, kLastWordsMost))
        write();
}

int sayNotStarted(const Error& why) {
    say(why.message);
    return kRunFailed;
}

int failed(const char* what) {
    say(std::string(what) + ": " + std::strerror(errno));
    return kRunFailed;
}

} // namespace

SupervisorDuties plainDuties() {
    SupervisorDuties duties;
    duties.notStarted = sayNotStarted;
    duties.over = [](const WrapperReply& words, const ExitState&) { sayLastWords(words); };
    return duties;
}

int Supervisor::run() {
    // The supervisor runs as the job's user, but outside of the job's cgroup. With PR_SET_DUMPABLE 0, the job's processes
    // cannot trace the supervisor (see prctl(2)). A process that traces the supervisor could make the supervisor run other
    // code. The child inherits PR_SET_DUMPABLE 0, and becomes traceable again when it executes the job's command.
    if (::prctl(PR_SET_DUMPABLE, 0) != 0)
        return failed("PR_SET_DUMPABLE");
    // The supervisor, and not PID 1, becomes the parent of the job's orphans. If PID 1 were the parent of very many orphans, PID
    // 1 could do no other work.
    if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        return failed("PR_SET_CHILD_SUBREAPER");
    if (!signals_.block())
        return failed("signalfd");
    if (!child_.fork(job_.program ? job_.program : job_.command[0], job_.command, signals_.previous(), duties_.inChild))
        return failed("cannot start a process");
    SignalReader::takeBackChild();
    if (const auto status = create())
        return *status;
    child_.letGo(environment_);
    superviseUntilLeaderGone();
    if (const int error = child_.takeExecResult(); error != 0)
        say(describeExecFailure(job_.command[0], error));
    if (confined_)
        endJob();
    return endAsTheJobEnded();
}

std::optional<int> Supervisor::create() {
    const auto self = pidfdOf(::getpid());
    link_.create(job_.request, {child_.pidfd(), self.get(), duties_.hasJobsOutput ? openStderr() : -1});
    auto outcome = link_.advance();
    while (!outcome && !shallGiveUpWaiting()) {
        waitForAnswer();
        outcome = link_.advance();
    }
    confined_ = outcome && *outcome;
    if (confined_)
        takeUp(**outcome);
    if (confined_ || (outcome && mayRunUnconfined(outcome->error(), job_.request.key)))
        return std::nullopt;
    // pinfoldd can still create the job after the supervisor has given up. giveUp() has killed the child, and the child is the
    // leader of the job, so the job ends immediately.
    child_.giveUp();
    while (!waitStatus_)
        waitOnce();
    if (!outcome)
        dieBySignal(endRequest_);
    return duties_.notStarted(outcome->error());
}

void Supervisor::takeUp(const WrapperReply& created) {
    key_ = created.key;
    task_ = created.task;
    processes_.emplace(key_, task_);
    forgetEndRequest(); // the command has received the signal that asked the supervisor to end, so the supervisor does not end
                        // because of the signal
    environment_ = created.environment;
}

void Supervisor::superviseUntilLeaderGone() {
    // After the start of a job, the supervisor only waits for the job's end, often for days. The supervisor gives unneeded memory
    // back to the kernel, for example the memory of the options.
    ::malloc_trim(0);
    while (!waitStatus_)
        waitOnce();
}

void Supervisor::endJob() {
    link_.end({key_, child_.pid(), duties_.exitOfJob(exitState(*waitStatus_)), task_, duties_.wantsReceipt});
    const Deadline sayWaiting(kSayWaitingAfter);
    bool said = false;
    auto outcome = link_.advance();
    while (!(outcome && isFinal(*outcome)) && !shallGiveUpWaiting()) {
        if (outcome)
            link_.askAgain();
        waitForAnswer(said ? -1 : sayWaiting.remainingMs());
        if (!said && sayWaiting.passed()) {
            sayThatWeWait();
            said = true;
        }
        outcome = link_.advance();
    }
    if (!outcome)
        say("job " + key_ + " is left to pinfoldd, because pinfoldd did not answer and pinfold-run received " +
            signalName(endRequest_));
    else if (!*outcome)
        say("job " + key_ + ": " + outcome->error().message);
    duties_.over(outcome && *outcome ? **outcome : WrapperReply{}, exitState(*waitStatus_));
}

bool Supervisor::isFinal(const Result<WrapperReply>& answer) const {
    if (answer)
        return true;
    const auto code = answer.error().code;
    // If pinfoldd does not start (Unreachable) or has too many requests (Busy), the supervisor must later try again to report
    // the end of the job. After every error except Unreachable and Busy, the supervisor waits until the job has no processes.
    // When the supervisor ends, the program that started the supervisor assumes that all processes of the job have ended.
    return code != ErrorCode::Unreachable && code != ErrorCode::Busy && processes_->populated() != true;
}

void Supervisor::sayThatWeWait() const {
    if (link_.trouble().empty())
        say("job " + key_ + " is not over yet, so pinfold-run waits: see `pinfold status " + key_ + "`");
    else
        say("job " + key_ + " may not be over yet, so pinfold-run waits until pinfoldd says so: " + link_.trouble());
}

int Supervisor::endAsTheJobEnded() const {
    if (WIFSIGNALED(*waitStatus_))
        dieBySignal(WTERMSIG(*waitStatus_));
    return WEXITSTATUS(*waitStatus_);
}

void Supervisor::waitForAnswer(int limitMs) {
    int timeoutMs = -1;
    for (const int limit : {link_.timeoutMs(), limitMs, endRequest_ != 0 ? kLookAgainMs : -1})
        if (limit >= 0)
            timeoutMs = timeoutMs < 0 ? limit : std::min(timeoutMs, limit);
    waitOnce(timeoutMs);
}

void Supervisor::waitOnce(int timeoutMs) {
    std::array<pollfd, 3> fds{pollfd{signals_.fd(), POLLIN, 0}, link_.waitFor(), pollfd{duties_.watch, POLLIN, 0}};
    ::poll(fds.data(), fds.size(), timeoutMs);
    if (fds[0].revents != 0)
        handleSignals();
    if (fds[2].revents != 0 && !duties_.watched())
        duties_.watch = -1;
}

void Supervisor::handleSignals() {
    while (const auto info = signals_.read()) {
        if (info->ssi_signo == SIGCHLD) {
            reap();
            continue;
        }
        // A signal that comes while the command runs is meant for the command. A signal that comes before the command starts,
        // or after the command has ended, must end the supervisor's wait. At a shutdown, pinfoldd and the bus possibly end and
        // do not start again. If pinfoldd does not start again, only a signal to the supervisor ends the supervisor's wait.
        if (asksToEnd(static_cast<int>(info->ssi_signo)) && (waitStatus_ || !processes_))
            endRequest_ = static_cast<int>(info->ssi_signo);
        if (waitStatus_)
            continue; // the command has ended and cannot receive the signal
        if (info->ssi_signo == SIGCONT)
            leaderStopped_ = false;
        const bool fromTerminal = cameFromTerminal(*info);
        if (fromTerminal && isStopSignal(static_cast<int>(info->ssi_signo)))
            terminalStop_ = true;
        // The terminal has already sent the signal to the job, if the job is in the same process group as the supervisor.
        if (!fromTerminal || ::getpgid(child_.pid()) != ::getpgrp())
            pass(*info);
    }
    stopWithTheJob();
}

bool Supervisor::shallGiveUpWaiting() {
    // Sometimes the kernel does not tell whether processes of the job are left. If pinfoldd has read the request, the supervisor
    // assumes that pinfoldd is ending the job.
    if (endRequest_ == 0 || (processes_ && processes_->populated().value_or(!link_.away())))
        return false;
    if (!lastWait_)
        lastWait_.emplace(kLastWait);
    return lastWait_->passed();
}

void Supervisor::forgetEndRequest() {
    endRequest_ = 0;
    lastWait_.reset();
}

void Supervisor::pass(const signalfd_siginfo& info) {
    if (duties_.passOn(static_cast<int>(info.ssi_signo)))
        forward(info, child_.pidfd());
}

void Supervisor::reap() {
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
        if (pid != child_.pid())
            continue;
        if (WIFSTOPPED(status))
            leaderStopped_ = true;
        else if (WIFCONTINUED(status))
            leaderStopped_ = false;
        else
            waitStatus_ = status;
    }
}

void Supervisor::stopWithTheJob() {
    // The shell of a terminal waits for the supervisor. The shell shows its prompt again only when both the job and its
    // supervisor have stopped. If a batch system sends a stop signal by kill(2), the signal must stop only the job and not the
    // supervisor. After a stop signal from a batch system, the supervisor continues to watch the job.
    if (!terminalStop_ || !leaderStopped_ || waitStatus_)
        return;
    terminalStop_ = false;
    leaderStopped_ = false;
    ::raise(SIGSTOP);
}

} // namespace pinfold
