// SPDX-License-Identifier: LGPL-2.1-or-later
// Translates Slurm's data about a task into pinfold's terms. slurm/translate.cpp includes no header of Slurm, so developers can
// build and test slurm/translate.cpp without Slurm.
#pragma once

#include "model/receipt.hpp"
#include "model/wrapper_protocol.hpp"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Describes a task by the items of SPANK (slurm/spank.h). The comment beside each member names the member's SPANK item.
struct SlurmTask {
    std::uint32_t jobId = 0;  ///< SPANK item S_JOB_ID; each element of an array has its own id
    std::uint32_t stepId = 0; ///< SPANK item S_JOB_STEPID
    uid_t owner = 0;          ///< SPANK item S_JOB_UID
    /// SPANK item S_JOB_ALLOC_MEM: the job's memory on this node in MiB, or 0 if Slurm does not count memory.
    std::uint64_t memory = 0;
    /// SPANK item S_JOB_ALLOC_CORES: cores such as "0-3,8", in Slurm's own numbers. The text is empty if the cores are not known.
    std::string_view cores{};
    JobIdentity identity = {};
};

/// Holds the values that slurmIdentity() needs from SPANK.
struct SlurmFacts {
    std::uint32_t arrayJob = 0;  ///< S_JOB_ARRAY_ID: 0 if the job does not belong to an array
    std::uint32_t arrayTask = 0; ///< S_JOB_ARRAY_TASK_ID
    std::uint32_t restarts = 0;  ///< S_SLURM_RESTART_COUNT
    std::string group = {};      ///< the name of the group S_JOB_GID, or its number
};
/// Returns a variable, or an empty text if the variable is not set.
using SlurmVariable = std::function<std::string(const char* name)>;
/// Makes the identity of a job from SPANK's items and from variables of a task. slurmIdentity() reads only variables that the
/// user's sbatch, salloc or srun has written.
JobIdentity slurmIdentity(const SlurmFacts& facts, const SlurmVariable& variable);

/// Makes the part of a job's identity that slurmd knows: the account, the partition and the nodes. slurmd puts the account, the
/// partition and the nodes into the environment of the batch script and of the epilogue. On a cluster without accounts, slurmd
/// passes on the account that the user has named. Do not call slurmdIdentity() for a step, because the user's srun writes the
/// variables in the environment of a step.
JobIdentity slurmdIdentity(const SlurmVariable& variable);

/// Returns the hosts of a list such as "node[01-03,7],login". If the list has more than JobIdentity::kMostNodes hosts, the result
/// has only the first kMostNodes hosts. If the form of the list is wrong, the result is empty.
std::vector<std::string> slurmHosts(std::string_view list);

/// The batch script is the step with the number kSlurmBatchStep (SLURM_BATCH_SCRIPT of slurm/slurm.h).
constexpr std::uint32_t kSlurmBatchStep = 0xfffffffb;

/// Returns a key such as "slurm.4711".
std::string slurmKey(std::uint32_t jobId);

/// Makes the request that asks pinfoldd to put a task into its job. The batch script becomes task 0 of its job. When the batch
/// script ends, the job ends. Except for the batch script, each task of Slurm becomes a further task of the job. If the batch
/// script does not run on this node, the first task on this node opens the job.
WrapperCreate slurmRequest(const SlurmTask& task);

/// Maps the name of each changed variable to the new value. If the value is unset, the caller has to remove the variable from the
/// task's environment.
using EnvironmentChanges = std::map<std::string, std::optional<std::string>>;
/// Returns the changes that the plugin makes to the environment of a task. `given` contains the variables that pinfoldd sent for
/// the job. `isSet` says whether the task's environment already has a variable. If the environment lacks PINFOLD_JOB,
/// environmentChanges() does not replace a variable that the environment already has. If the environment has PINFOLD_JOB,
/// environmentChanges() replaces or removes all variables of limit_variables.hpp. Slurm has possibly copied PINFOLD_JOB from the
/// batch script on another node, or from the job that called sbatch or srun.
EnvironmentChanges environmentChanges(const std::map<std::string, std::string>& given,
                                      const std::function<bool(const char* name)>& isSet);

/// Returns true if the process is in a cgroup that Slurm has made for the process. `cgroups` is the text of /proc/PID/cgroup of
/// the process.
bool slurmContains(std::string_view cgroups);

/// Returns true if the process is in the scope of the job's batch script. `cgroups` is the text of /proc/PID/cgroup of the
/// process.
bool isInBatchScope(std::string_view cgroups, std::uint32_t jobId);

/// Reads an exit status in the form of wait(2). If `status` does not have the form of wait(2), the result is an unknown
/// ExitState. If Slurm does not know how a job ended, Slurm writes a number that does not have the form of wait(2).
ExitState exitFromWaitStatus(std::uint32_t status);

/// Reads SLURM_JOB_EXIT_CODE of an epilogue: an exit status in the form of wait(2), as a decimal number. If SLURM_JOB_EXIT_CODE
/// is not a decimal number, the result is an unknown ExitState.
ExitState slurmJobExit(std::string_view text);

} // namespace pinfold
