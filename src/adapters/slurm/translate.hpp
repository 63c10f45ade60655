// SPDX-License-Identifier: LGPL-2.1-or-later
// Translates what Slurm says about a task into pinfold's terms. It uses no header of Slurm, so that it can be built and tested
// everywhere.
#pragma once

#include "model/receipt.hpp"
#include "model/wrapper_protocol.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace pinfold {

/// A task, as SPANK's items of these names describe it (slurm/spank.h).
struct SlurmTask {
    std::uint32_t jobId = 0;  ///< S_JOB_ID: each element of an array has its own
    std::uint32_t stepId = 0; ///< S_JOB_STEPID
    std::uint32_t owner = 0;  ///< S_JOB_UID
    std::uint64_t memory = 0; ///< S_JOB_ALLOC_MEM, MiB of the job on this node; 0: Slurm does not count memory
    std::string_view cores{}; ///< S_JOB_ALLOC_CORES, "0-3,8", by Slurm's own numbers; empty: not known
};

/// The number of the step that is the batch script (SLURM_BATCH_SCRIPT of slurm/slurm.h).
constexpr std::uint32_t kSlurmBatchStep = 0xfffffffb;

/// "slurm.4711".
std::string slurmKey(std::uint32_t jobId);

/// The batch script becomes task 0 of its job, and its end is the job's end. All other tasks become further tasks of a job that
/// the first of them on a node opens.
WrapperCreate slurmRequest(const SlurmTask& task);

/// True: the process is in a cgroup that Slurm made for it. `cgroups`: the text of its /proc/PID/cgroup.
bool slurmContains(std::string_view cgroups);

/// Reads a status as wait(2) gives it. Unknown for a number that is not such a status, which Slurm writes for a job about which
/// it knows nothing better.
ExitState exitFromWaitStatus(std::uint32_t status);

/// Reads SLURM_JOB_EXIT_CODE of an epilogue: a status as wait(2) gives it, in decimal. Unknown for anything else.
ExitState slurmJobExit(std::string_view text);

} // namespace pinfold
