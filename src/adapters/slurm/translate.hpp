// SPDX-License-Identifier: LGPL-2.1-or-later
// Translates Slurm's data about a task into pinfold's terms. The code does not include headers of Slurm, so the code can be
// built and tested without Slurm.
#pragma once

#include "model/receipt.hpp"
#include "model/wrapper_protocol.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace pinfold {

/// Describes a task by the items of SPANK (slurm/spank.h). A comment names the SPANK item of each member.
struct SlurmTask {
    std::uint32_t jobId = 0;  ///< S_JOB_ID: each element of an array has its own id
    std::uint32_t stepId = 0; ///< S_JOB_STEPID
    uid_t owner = 0;          ///< S_JOB_UID
    std::uint64_t memory = 0; ///< S_JOB_ALLOC_MEM, the job's MiB on this node; 0 if Slurm does not count memory
    std::string_view cores{}; ///< S_JOB_ALLOC_CORES, such as "0-3,8", in Slurm's own numbers; empty if not known
};

/// The batch script is the step with the number kSlurmBatchStep (SLURM_BATCH_SCRIPT of slurm/slurm.h).
constexpr std::uint32_t kSlurmBatchStep = 0xfffffffb;

/// Returns a key such as "slurm.4711".
std::string slurmKey(std::uint32_t jobId);

/// Makes the request for a task. The batch script becomes task 0 of its job, and the job ends with the batch script. All other
/// tasks of Slurm become further tasks of the job. On a node without the batch script, the
/// first task opens the job.
WrapperCreate slurmRequest(const SlurmTask& task);

/// Returns true if the process is in a cgroup that Slurm has made for the process. `cgroups` is the text of /proc/PID/cgroup of
/// the process.
bool slurmContains(std::string_view cgroups);

/// Reads an exit status in the form of wait(2). If the number is not in the form of wait(2), the result is an unknown
/// ExitState. (If Slurm does not know how a job ended, Slurm writes a number that is not in the form of wait(2).)
ExitState exitFromWaitStatus(std::uint32_t status);

/// Reads SLURM_JOB_EXIT_CODE of an epilogue: an exit status in the form of wait(2), as a decimal number. If SLURM_JOB_EXIT_CODE
/// has any other text, the result is an unknown ExitState.
ExitState slurmJobExit(std::string_view text);

} // namespace pinfold
