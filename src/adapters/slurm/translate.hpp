// SPDX-License-Identifier: LGPL-2.1-or-later
// Translates what Slurm says about a task into pinfold's terms. The code uses no header of Slurm, so that it can be built and
// tested everywhere.
#pragma once

#include "model/receipt.hpp"
#include "model/wrapper_protocol.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace pinfold {

/// Describes a task by SPANK's items, whose names are below (slurm/spank.h).
struct SlurmTask {
    std::uint32_t jobId = 0;  ///< S_JOB_ID: each element of an array has its own id
    std::uint32_t stepId = 0; ///< S_JOB_STEPID
    std::uint32_t owner = 0;  ///< S_JOB_UID
    std::uint64_t memory = 0; ///< S_JOB_ALLOC_MEM, the job's MiB on this node; 0 if Slurm does not count memory
    std::string_view cores{}; ///< S_JOB_ALLOC_CORES, such as "0-3,8", in Slurm's own numbers; empty if not known
};

/// The step with this number is the batch script (SLURM_BATCH_SCRIPT of slurm/slurm.h).
constexpr std::uint32_t kSlurmBatchStep = 0xfffffffb;

/// Returns a key such as "slurm.4711".
std::string slurmKey(std::uint32_t jobId);

/// Makes the request for a task. The batch script becomes task 0 of its job, and the end of the batch script is the end of the
/// job. All other tasks become further tasks of a job. The first of these tasks on a node opens the job.
WrapperCreate slurmRequest(const SlurmTask& task);

/// Returns true if the process is in a cgroup that Slurm made for it. `cgroups` is the text of /proc/PID/cgroup of the process.
bool slurmContains(std::string_view cgroups);

/// Reads a status as wait(2) gives it. The result is unknown for a number that is not such a status. (Slurm writes such a number
/// if it does not know how a job ended.)
ExitState exitFromWaitStatus(std::uint32_t status);

/// Reads SLURM_JOB_EXIT_CODE of an epilogue: a status as wait(2) gives it, in decimal. The result is unknown for any other text.
ExitState slurmJobExit(std::string_view text);

} // namespace pinfold
