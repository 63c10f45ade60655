// SPDX-License-Identifier: LGPL-2.1-or-later
// What Slurm says of a task, in pinfold's words. Nothing of Slurm's headers, so that it is built and tested everywhere.
#pragma once

#include "model/receipt.hpp"
#include "model/wrapper_protocol.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace pinfold {

/// As SPANK's items of these names have it (slurm/spank.h).
struct SlurmTask {
    std::uint32_t jobId = 0;  ///< S_JOB_ID: of an array's element its own
    std::uint32_t stepId = 0; ///< S_JOB_STEPID
    std::uint32_t owner = 0;  ///< S_JOB_UID
    std::uint64_t memory = 0; ///< S_JOB_ALLOC_MEM, MiB of the job on this node; 0: Slurm doesn't count memory
    std::string_view cores{}; ///< S_JOB_ALLOC_CORES, "0-3,8", by Slurm's own numbers; empty: not known
};

/// The step that a batch script is (SLURM_BATCH_SCRIPT of slurm/slurm.h).
constexpr std::uint32_t kSlurmBatchStep = 0xfffffffb;

/// "slurm.4711".
std::string slurmKey(std::uint32_t jobId);

/// The batch script is its job's task 0, whose end is the job's. All other tasks are further ones, of a job that the first of
/// them on a node opens.
WrapperCreate slurmRequest(const SlurmTask& task);

/// Whether a process is in a cgroup that Slurm made for it. `cgroups` is the text of its /proc/PID/cgroup.
bool slurmContains(std::string_view cgroups);

/// From a status as wait(2) has it. Unknown for what is none, as Slurm writes it for a job of which it knows no better.
ExitState exitFromWaitStatus(std::uint32_t status);

/// From SLURM_JOB_EXIT_CODE of an epilogue: decimal, as wait(2) has it. Unknown for anything else.
ExitState slurmJobExit(std::string_view text);

} // namespace pinfold
