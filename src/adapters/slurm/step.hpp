// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "adapters/slurm/shared_variables.hpp"
#include "adapters/slurm/translate.hpp"
#include "base/result.hpp"

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace pinfold {

/// Puts tasks of one slurmstepd into jobs of pinfold, and remembers these tasks until they end.
class Step {
public:
    /// Prepares the memory through which the tasks get the variables of the job. slurmstepd must call prepare() before it forks
    /// the tasks.
    Result<void> prepare() { return variables_.prepare(); }

    /// Puts a task into its job. The process of the task has not run any code of the user yet. slurmstepd does not let the
    /// process continue before join() has returned. If the site lets jobs run without a scope, join() succeeds even if pinfoldd
    /// does not run. After an error, join() kills all earlier tasks of the step. Each later call of join() returns the same
    /// error. After an error, no task of the step is allowed to run. The caller of join() has to kill the task for which join()
    /// failed.
    Result<void> join(int task, pid_t process, const SlurmTask& what);

    /// Waits until no process of the task is left. For a batch script, over() waits until no process of the whole job is left.
    /// Returns a text of one or more lines for the job's owner, or an empty text.
    Result<std::string> over(int task, ExitState exit);

    /// Returns the environment variables that pinfoldd sent for the job. slurmstepd and its child processes can call variables().
    /// The result is empty if the tasks have no scope.
    SharedVariables::Variables variables() const { return variables_.get(); }

private:
    struct Contained {
        std::string key;
        pid_t leader;
        std::optional<std::uint32_t> number; ///< the task's number in pinfold's job; unset for the batch script
    };
    std::map<int, Contained> contained_; ///< maps a task's number in Slurm's step to the task
    std::optional<Error> refused_;
    SharedVariables variables_; ///< the variables of the job on this node; all tasks get the same variables
};

/// Hands the standard error of this process over to pinfoldd, so that pinfoldd can write lines about the job. This process must
/// be the leader of the job with the key `key`.
Result<void> handOverOutput(const std::string& key);

/// Ends all processes of the job that are left on this node, and waits until they have ended. If the job does not exist, endJob()
/// reports no error. If the receipt lacks a fact that `identity` has, pinfoldd adds the fact to the receipt.
Result<void> endJob(const std::string& key, ExitState exit, const JobIdentity& identity);

} // namespace pinfold
