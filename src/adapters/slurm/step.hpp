// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "adapters/slurm/translate.hpp"
#include "base/result.hpp"

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace pinfold {

/// The tasks of one slurmstepd that are in a job of pinfold.
class Step {
public:
    /// Puts a task into its job. The task's process waits until slurmstepd lets it go on, and has not run anything of the user
    /// yet. If the site lets jobs run without a scope, an outage of pinfoldd is not an error. After an error no task of the step
    /// may run: earlier tasks are killed, the caller has to kill this one, and later tasks get the same error.
    Result<void> join(int task, pid_t process, const SlurmTask& what);

    /// Waits until nothing of the task is left; for a batch script, until nothing of the whole job is left. The answer is text
    /// for the job's owner, line by line, or empty.
    Result<std::string> over(int task, ExitState exit);

private:
    struct Contained {
        std::string key;
        pid_t leader;
        std::optional<std::uint32_t> number; ///< the task's number in the job; unset: it is the batch script
    };
    std::map<int, Contained> contained_; ///< by Slurm's number in the step
    std::optional<Error> refused_;
};

/// Ends what is left of the job on this node, and waits for that. It is not an error if there is no such job.
Result<void> endJob(const std::string& key, ExitState exit);

} // namespace pinfold
