// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "schedulers/slurm.hpp"

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace pinfold {

/// The tasks of one slurmstepd that pinfold contains.
class Step {
public:
    /// Puts a task into its job. Its process waits for slurmstepd's word to go on, and has run nothing of the user's yet. Where
    /// the site lets jobs run without a scope, an outage is no error. After an error none of the step's tasks must run: earlier
    /// ones are killed, this one is the caller's to kill, later ones get the same error.
    Result<void> join(int task, pid_t process, const SlurmTask& what);

    /// Waits until nothing of the task is left, of a batch script's whole job. The answer: what there is to say to the job's
    /// owner, line by line, or nothing.
    Result<std::string> over(int task, ExitState exit);

private:
    struct Contained {
        std::string key;
        pid_t leader;
        std::optional<std::uint32_t> number; ///< in the job; none: it is the batch script
    };
    std::map<int, Contained> contained_; ///< by Slurm's number in the step
    std::optional<Error> refused_;
};

/// Whether pinfoldd answers. As for join(), an outage may be no error.
Result<void> checkDaemon(const std::string& key);

/// Ends whatever of the job is left on this node, and waits for that. No error where there is no such job.
Result<void> endJob(const std::string& key, ExitState exit);

} // namespace pinfold
