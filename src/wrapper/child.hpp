// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/unique_fd.hpp"

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace pinfold {

/// Controls the process that later executes the job's command. The process waits until the supervisor calls letGo().
class Child {
public:
    /// Starts a process that later executes `program` with the arguments `command`. `mask` is the signal mask that the job
    /// gets. The new process calls `inChild` before it executes the command. Call fork() before you change any signal
    /// disposition, because the job inherits the dispositions. Returns false and sets errno if the process cannot be started.
    bool fork(const char* program, char** command, const sigset_t& mask, const std::function<void()>& inChild);

    pid_t pid() const { return pid_; }
    int pidfd() const { return pidfd_.get(); }

    /// Call letGo() when the process is in its scope. After letGo(), the process runs the command. The command gets the variables
    /// in `environment`, and all variables of this process.
    void letGo(const std::map<std::string, std::string>& environment);
    /// Kills the process while the process still waits for letGo().
    void giveUp();

    /// Returns the errno of a failed exec, or 0 if exec succeeded. Call takeExecResult() when the process has ended.
    int takeExecResult();

private:
    [[noreturn]] static void waitAndExec(int go, int execResult, const char* program, char** command, const sigset_t& mask,
                                         const std::function<void()>& inChild);

    pid_t pid_ = -1;
    UniqueFd pidfd_;
    UniqueFd go_;
    UniqueFd execResult_;
};

} // namespace pinfold
