// SPDX-License-Identifier: LGPL-2.1-or-later
// Who may do what, and in which of a job's states. Pure. The one table is in authorizer.cpp. decide() uses it for requests by the
// bus and by the socket, and refuses what is not in the table. docs/security.md has the same table for people.
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// The user id of a caller whose user is not known.
inline constexpr uid_t kNobodyKnown = static_cast<uid_t>(-1);

/// The user who calls. The bus (GetConnectionUnixUser) or the socket (SO_PEERCRED) tells the user id. `admin`: the user is root
/// or in pinfold-admin.
struct Caller {
    uid_t uid = kNobodyKnown;
    bool admin = false;
    uid_t countsAs = uid; ///< the user whose share of pinfoldd the call takes: for a subordinate id its owner (SubordinateUsers)
};

/// The methods of org.pinfold1.Manager, with the same names. A request through the wrapper's socket counts as one of these
/// methods, too.
enum class Action {
    CreateJob,
    CreateJobAgain, ///< repeated by the leader of the job, because the answer was lost
    OpenJob,
    AddTask,
    AddTaskAgain, ///< repeated by the leader of a task of the job
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
    GetReceipt,
    ListReceipts,
    VacuumHistory,
    Drain,
    Undrain,
    Reconcile,
    Reload,
};

/// The state of the job that a request names.
enum class Phase {
    NoJob,
    Starting,
    Running,
    Suspended,
    Ending,
    Over, ///< the job has a receipt
};

/// What a decision depends on besides caller and action.
struct Target {
    std::string key;                   ///< the job's key, for the text of a refusal
    Phase phase = Phase::NoJob;        ///< NoJob for node-wide actions, too
    std::optional<uid_t> owner;        ///< the owner of the job; unset if the job does not exist
    bool ownProcesses = false;         ///< all processes passed have the caller's user id as real, effective and saved one
    bool processesInJob = false;       ///< one of the processes passed is in a job already
    bool userJobsAllowed = false;      ///< jobs.allow_user_jobs
    const char* looserLimit = nullptr; ///< a limit that exceeds the site's default, or the limit in force; null: there is none
    const char* reservedKey = nullptr; ///< the key that the request names, if users may not use it; else null
    bool allocates = false;            ///< the request asks for parts of the node for the job alone
    bool namesOwner = false;           ///< the request names an owner other than the caller
    bool shepherd = false;             ///< the request says that the leader is the batch system's own process
};

/// The action of a method. Unset: there is no such method.
std::optional<Action> actionOf(std::string_view method);

/// Whether this caller may use this action at all, for whatever job. The bus asks this before it looks at anything else of the
/// request. Error: Denied.
Result<void> admit(const Caller& caller, Action action);

/// Errors: Denied, with the rule that refused. For callers who may use the action, depending on the job's phase: NoSuchJob,
/// NoSuchReceipt, AlreadyExists, Busy or JobEnding.
Result<void> decide(const Caller& caller, Action action, const Target& target);

/// What decide() answers for this phase to a caller who may use the action.
Result<void> possible(Action action, Phase phase, const std::string& key);

} // namespace pinfold
