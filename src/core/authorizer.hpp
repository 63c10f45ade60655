// SPDX-License-Identifier: LGPL-2.1-or-later
// Who may do what. Pure: every rule is in decide(), and the test is a table.
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <optional>

namespace pinfold {

/// Who calls: the bus's own answer (GetConnectionUnixUser), and whether that user is root or in pinfold-admin.
struct Caller {
    uid_t uid = static_cast<uid_t>(-1);
    bool admin = false;
};

enum class Verb {
    Create,
    Open,
    AddProcess,
    End,
    Stop,
    Kill,
    Suspend, ///< and resume
    SetLimits,
    Wait,
    List,
    ListProcesses,
    GetUsage,
    ReadReceipt,
    Reload,
    Drain, ///< and undrain
    Reconcile,
    VacuumHistory,
};

/// What a decision looks at besides caller and verb.
struct Target {
    std::optional<uid_t> owner;        ///< of the job; unset for node-wide verbs
    bool ownProcesses = false;         ///< real, effective and saved uid of every process passed are the caller's
    bool processesInJob = false;       ///< one of the processes passed is in a job already
    bool userJobsAllowed = false;      ///< jobs.allow_user_jobs
    const char* looserLimit = nullptr; ///< the limit that is above the site's default, or above what is in force
    bool allocates = false;            ///< asks for parts of the node for itself
    bool namesOwner = false;           ///< the request names an owner other than the caller
    bool shepherd = false;             ///< the leader is said to be the batch system's own
};

/// Error: Denied, with the rule that refused.
Result<void> decide(const Caller& caller, Verb verb, const Target& target);

} // namespace pinfold
