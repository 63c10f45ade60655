// SPDX-License-Identifier: LGPL-2.1-or-later
// Says which requests a caller is allowed to make in each state of a job. The function decide() is pure. For requests from the
// bus and for requests from the socket, decide() uses one common table in authorizer.cpp. The function decide() refuses every
// request that the table does not allow. docs/security.md contains a copy of decide()'s table for human readers.
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// A caller has the user id kNobodyKnown if pinfoldd does not know the user.
inline constexpr uid_t kNobodyKnown = static_cast<uid_t>(-1);

/// Describes the user who has sent a request. The user id comes from the bus (GetConnectionUnixUser) or from the socket
/// (SO_PEERCRED). The member `admin` is true for root and for the members of pinfold-admin.
struct Caller {
    uid_t uid = kNobodyKnown;
    bool admin = false;
    /// Each call counts towards the limits of the user `countsAs`. For a subordinate id, `countsAs` is the owner of the id
    /// (SubordinateUsers).
    uid_t countsAs = uid;
    bool auditor = false; ///< the caller is a member of pinfold-audit, and is allowed to see the jobs of all users
};

/// For each method of org.pinfold1.Manager, Action has a value with the name of the method. A request through the wrapper's
/// socket has the same Action as the corresponding method of org.pinfold1.Manager.
enum class Action {
    CreateJob,
    CreateJobAgain, ///< the leader of the job repeats CreateJob, because the answer was lost
    OpenJob,
    AddTask,
    AddTaskAgain, ///< the leader of a task of the job repeats AddTask, because the answer was lost
    Adopt,
    EndJob,
    StopJob,
    KillJob,
    SuspendJob,
    ResumeJob,
    SetLimits,
    WaitJob,
    WaitTask,
    ListJobs,
    ListMoreJobs,
    GetJob,
    GetJobByPID,
    GetJobByUnit,
    ListProcesses,
    ListMoreProcesses,
    GetUsage,
    GetIdentity,
    GetReceipt,
    GetProfile,
    ListReceipts,
    VacuumHistory,
    Drain,
    Undrain,
    Reconcile,
    Reload,
};

/// Says in which state a job is when a request for the job comes.
enum class Phase {
    NoJob,
    Starting,
    Running,
    Suspended,
    Ending,
    Over, ///< the job has a receipt
};

/// Holds everything that decide() must know about the job and about the request. The caller and the action are separate arguments
/// of decide().
struct Target {
    std::string key;              ///< the job's key, for the text of a refusal
    Phase phase = Phase::NoJob;   ///< the phase of the job; NoJob if the action is not about one job
    std::optional<uid_t> owner;   ///< the owner of the job; unset if the job does not exist
    bool ownProcesses = false;    ///< all processes that the request names have only the caller's user id
    bool processesInJob = false;  ///< the request names a process that is in a job already
    bool userJobsAllowed = false; ///< the setting jobs.allow_user_jobs
    /// looserLimit is the name of a limit that the request makes looser than the default or the present limit. If the request
    /// makes no limit looser, looserLimit is null.
    const char* looserLimit = nullptr;
    const char* reservedKey = nullptr; ///< the key in the request if users must not use this key; otherwise null
    bool allocates = false;            ///< the request reserves CPUs or GPUs of the node for the job
    bool namesOwner = false;           ///< the request names an owner other than the caller
    bool shepherd = false;             ///< the request says that the leader is the batch system's own process
    bool speaksAsBatchSystem = false;  ///< the request contains facts that only the batch system knows
};

/// Returns the Action of a method of org.pinfold1.Manager, or nullopt if there is no such method.
std::optional<Action> actionOf(std::string_view method);

/// Checks whether the caller is allowed to make requests of the kind `action`. The result of admit() does not depend on which job
/// the request names. The bus layer calls admit() before it reads the arguments of the request. Error: Denied.
Result<void> admit(const Caller& caller, Action action);

/// Returns true if the caller is allowed to make requests of the kind `action` about the jobs of all users.
bool isForAllJobs(const Caller& caller, Action action);

/// Decides whether the caller is allowed to make the request. The message of the error Denied says which rule refuses the
/// request. If pinfoldd refuses the request because of the job's phase, the error is NoSuchJob, NoSuchReceipt, AlreadyExists,
/// Busy or JobEnding.
Result<void> decide(const Caller& caller, Action action, const Target& target);

/// Returns the result of decide() for a job in the phase `phase` and a caller who is allowed to make the request.
Result<void> possible(Action action, Phase phase, const std::string& key);

} // namespace pinfold
