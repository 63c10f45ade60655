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

/// The process that becomes the job once it is let go; until then it waits.
class Child {
public:
    /// `program` is executed, with `command` as its arguments; `mask`: the signal mask that the job gets; `inChild` is called in
    /// the new process before it becomes the command. Must be called before any disposition is changed: the job gets those too.
    /// False, with errno, when there is no process to be had.
    bool fork(const char* program, char** command, const sigset_t& mask, const std::function<void()>& inChild);

    pid_t pid() const { return pid_; }
    int pidfd() const { return pidfd_.get(); }

    /// In its scope: it may run, with these variables besides its own.
    void letGo(const std::map<std::string, std::string>& environment);
    /// It ends without having run.
    void giveUp();

    /// Errno of a failed exec, 0 for success. To be asked once it has ended.
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
