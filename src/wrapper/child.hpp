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

/// The process that becomes the job. It waits until letGo().
class Child {
public:
    /// Starts the process, which will execute `program` with `command` as its arguments. `mask`: the signal mask that the job
    /// gets. `inChild` is called in the new process before it becomes the command. Call this before you change any signal
    /// disposition, because the job inherits them. False, with errno, when the process cannot be started.
    bool fork(const char* program, char** command, const sigset_t& mask, const std::function<void()>& inChild);

    pid_t pid() const { return pid_; }
    int pidfd() const { return pidfd_.get(); }

    /// Call this when the process is in its scope: it now runs the command, with these variables besides its own.
    void letGo(const std::map<std::string, std::string>& environment);
    /// Ends the process. It has not run the command.
    void giveUp();

    /// The errno of a failed exec, 0 for success. Ask when the process has ended.
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
