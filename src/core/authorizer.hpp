// SPDX-License-Identifier: LGPL-2.1-or-later
// Who may do what, and in which of a job's states. Pure: the one table is in authorizer.cpp, and decide() goes by it, whichever
// way a request comes. What is not in the table is refused. docs/security.md has the same table for people.
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// Of a caller whose user could not be told.
inline constexpr uid_t kNobodyKnown = static_cast<uid_t>(-1);

/// Who calls: the bus's own answer (GetConnectionUnixUser) or the socket's (SO_PEERCRED), and whether that user is root or in
/// pinfold-admin.
struct Caller {
    uid_t uid = kNobodyKnown;
    bool admin = false;
    uid_t countsAs = uid; ///< whose share of pinfoldd it has: the owner of a subordinate id (SubordinateUsers)
};

/// The methods of org.pinfold1.Manager, under their names there. What comes by the wrapper's socket is one of these, too.
enum class Verb {
    CreateJob,
    CreateJobAgain, ///< by the leader of the job: the answer was lost
    OpenJob,
    AddTask,
    AddTaskAgain, ///< by the leader of a task of the job
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

/// What there is of the job that a request names.
enum class Phase {
    NoJob,
    Starting,
    Running,
    Suspended,
    Ending,
    Over, ///< there is a receipt of it
};

/// What a decision looks at besides caller and verb.
struct Target {
    std::string key;                   ///< for the words of a refusal
    Phase phase = Phase::NoJob;        ///< NoJob for node-wide verbs, too
    std::optional<uid_t> owner;        ///< of the job; unset without one
    bool ownProcesses = false;         ///< real, effective and saved uid of every process passed are the caller's
    bool processesInJob = false;       ///< one of the processes passed is in a job already
    bool userJobsAllowed = false;      ///< jobs.allow_user_jobs
    const char* looserLimit = nullptr; ///< the limit that is above the site's default, or above what is in force
    const char* reservedKey = nullptr; ///< the key that the request names, where it is none for users
    bool allocates = false;            ///< asks for parts of the node for itself
    bool namesOwner = false;           ///< the request names an owner other than the caller
    bool shepherd = false;             ///< the leader is said to be the batch system's own
};

/// Unset: no such method.
std::optional<Verb> verbOf(std::string_view method);

/// Whether this caller may ask for this at all, whatever job it is about. Asked before anything of the request is looked at.
/// Error: Denied.
Result<void> admit(const Caller& caller, Verb verb);

/// Errors: Denied, with the rule that refused; and of who may, by the job's phase, NoSuchJob, NoSuchReceipt, AlreadyExists, Busy
/// or JobEnding.
Result<void> decide(const Caller& caller, Verb verb, const Target& target);

/// What decide() says of this phase to who may.
Result<void> possible(Verb verb, Phase phase, const std::string& key);

} // namespace pinfold
