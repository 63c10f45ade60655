// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wrapper/child.hpp"

#include "base/error_code.hpp"
#include "base/pidfd.hpp"
#include "wrapper/command.hpp"
#include "wrapper/job_environment.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

namespace pinfold {
namespace {

/// The byte kGo ends the supervisor's message to the child. If the byte kGo is missing, the supervisor has ended, or the
/// supervisor has given up the job.
constexpr char kGo = '\n';

std::string readAll(int pipe) {
    std::string text;
    std::array<char, 4096> part;
    while (true) {
        const auto count = ::read(pipe, part.data(), part.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return text;
        text.append(part.data(), static_cast<std::size_t>(count));
    }
}

/// Sets variables. `word` is a sequence of strings such as "NAME=VALUE", and each string ends with a zero byte.
void setVariables(const std::string& word) {
    std::map<std::string, std::string> variables;
    for (std::size_t start = 0, end = 0; (end = word.find('\0', start)) != std::string::npos; start = end + 1) {
        const auto equals = word.find('=', start);
        variables[word.substr(start, equals - start)] = word.substr(equals + 1, end - equals - 1);
    }
    addToEnvironment(variables);
}

} // namespace

bool Child::fork(const char* program, char** command, const sigset_t& mask, const std::function<void()>& inChild) {
    std::array<int, 2> go{};
    std::array<int, 2> result{};
    if (::pipe2(go.data(), O_CLOEXEC) != 0)
        return false;
    const UniqueFd goRead(go[0]);
    go_.reset(go[1]);
    if (::pipe2(result.data(), O_CLOEXEC) != 0)
        return false;
    execResult_.reset(result[0]);
    const UniqueFd resultWrite(result[1]);

    std::array<char, 16> ownName{};
    (void)::prctl(PR_GET_NAME, ownName.data());
    // This process changes its own name to the program's name before fork(2), so that the child has this name from the start.
    // pinfoldd reads the leader's name before the leader executes the job's program. Many jobs are so short that pinfoldd has
    // time to read the leader's name only once.
    nameAfter(program);
    pid_ = ::fork();
    if (pid_ != 0)
        (void)::prctl(PR_SET_NAME, ownName.data());
    if (pid_ == 0) {
        go_.reset(); // if the child kept this end of the pipe open, the child would not notice the end of the parent
        execResult_.reset();
        waitAndExec(goRead.get(), resultWrite.get(), program, command, mask, inChild);
    }
    if (pid_ < 0)
        return false;
    pidfd_ = pidfdOf(pid_);
    return static_cast<bool>(pidfd_);
}

void Child::waitAndExec(int go, int execResult, const char* program, char** command, const sigset_t& mask,
                        const std::function<void()>& inChild) {
    const auto word = readAll(go);
    if (!word.ends_with(kGo))
        ::_exit(kRunFailed);
    setVariables(word);
    inChild();
    // Since the fork, somebody has possibly sent signals to this process. sigprocmask() unblocks signals, so that this process
    // gets a waiting signal before the command runs.
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    const int error = execCommand(program, command);
    (void)!::write(execResult, &error, sizeof error);
    ::_exit(execFailureStatus(error));
}

void Child::letGo(const std::map<std::string, std::string>& environment) {
    std::string word;
    for (const auto& [name, value] : environment)
        word.append(name).append("=").append(value).push_back('\0');
    word += kGo;
    for (std::size_t written = 0; written < word.size();) {
        const auto count = ::write(go_.get(), word.data() + written, word.size() - written);
        if (count < 0 && errno != EINTR)
            break; // the child is gone, and its pidfd reports the end
        written += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    }
    go_.reset();
}

void Child::giveUp() {
    go_.reset();
    // If somebody has stopped the child, or has frozen the job of the child, only SIGKILL ends the child.
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
}

int Child::takeExecResult() {
    int error = 0;
    ssize_t count = 0;
    do
        count = ::read(execResult_.get(), &error, sizeof error);
    while (count < 0 && errno == EINTR);
    execResult_.reset();
    return count == sizeof error ? error : 0;
}

} // namespace pinfold
