// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/access/authorizer.hpp"

#include "base/escape.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace pinfold {
namespace {

/// Says which ordinary users are allowed to make a request. Root and the members of pinfold-admin are allowed to make every
/// request.
enum class Who {
    Admin,
    Owner,   ///< the owner of the job
    Reader,  ///< the owner of the job, and each member of pinfold-audit
    Creator, ///< the user who creates the job, if decideCreate() finds no objection
    Everyone,
};

/// Says how pinfoldd answers a request, depending on the phase of the job.
enum class Is {
    Done,
    Needless, ///< pinfoldd has nothing to do and answers at once; the answer contains no facts about the job
    NoJob,
    NoReceipt,
    Taken,
    Early,
    Held, ///< pinfoldd refuses the request, because systemd 257 starts no unit in a frozen slice
    Late,
};

struct Rule {
    Action action;
    std::string_view method;
    Who who;
    std::array<Is, 6> in; ///< how pinfoldd answers the request in each Phase of the job
};

using enum Is;

// The rows of kRules have the same order as the values of Action. tests/unit/lint compares the table with docs/security.md.
// clang-format off
constexpr Rule kRules[] = {
    //                                                           no job     starting   running    suspended  ending     over
    {Action::CreateJob,      "CreateJob",      Who::Creator,  {{ Done,      Taken,     Taken,     Taken,     Taken,     Done      }}},
    {Action::CreateJobAgain, "CreateJobAgain", Who::Owner,    {{ NoJob,     Done,      Done,      Done,      Done,      NoJob     }}},
    {Action::OpenJob,        "OpenJob",        Who::Admin,    {{ Done,      Done,      Done,      Done,      Done,      Done      }}},
    {Action::AddTask,        "AddTask",        Who::Owner,    {{ NoJob,     Early,     Done,      Held,      Late,      NoJob     }}},
    {Action::AddTaskAgain,   "AddTaskAgain",   Who::Owner,    {{ NoJob,     Done,      Done,      Done,      Done,      NoJob     }}},
    {Action::Adopt,          "Adopt",          Who::Owner,    {{ NoJob,     Early,     Done,      Held,      Late,      NoJob     }}},
    {Action::EndJob,         "EndJob",         Who::Owner,    {{ NoJob,     Done,      Done,      Done,      Done,      Done      }}},
    {Action::StopJob,        "StopJob",        Who::Owner,    {{ NoJob,     Early,     Done,      Done,      Done,      NoJob     }}},
    {Action::KillJob,        "KillJob",        Who::Owner,    {{ NoJob,     Done,      Done,      Done,      Done,      NoJob     }}},
    {Action::SuspendJob,     "SuspendJob",     Who::Owner,    {{ NoJob,     Early,     Done,      Done,      Late,      NoJob     }}},
    {Action::ResumeJob,      "ResumeJob",      Who::Owner,    {{ NoJob,     Early,     Done,      Done,      Late,      NoJob     }}},
    {Action::SetLimits,      "SetLimits",      Who::Owner,    {{ NoJob,     Early,     Done,      Done,      Late,      NoJob     }}},
    {Action::WaitJob,        "WaitJob",        Who::Reader,   {{ NoJob,     Done,      Done,      Done,      Done,      Done      }}},
    {Action::WaitTask,       "WaitTask",       Who::Reader,   {{ Needless,  Done,      Done,      Done,      Done,      Needless  }}},
    {Action::ListJobs,       "ListJobs",       Who::Everyone, {{ Done,      Done,      Done,      Done,      Done,      Done      }}},
    {Action::ListMoreJobs,   "ListMoreJobs",   Who::Everyone, {{ Done,      Done,      Done,      Done,      Done,      Done      }}},
    {Action::GetJob,         "GetJob",         Who::Everyone, {{ NoJob,     Done,      Done,      Done,      Done,      NoJob     }}},
    {Action::GetJobByPID,    "GetJobByPID",    Who::Everyone, {{ NoJob,     Done,      Done,      Done,      Done,      NoJob     }}},
    {Action::GetJobByUnit,   "GetJobByUnit",   Who::Everyone, {{ NoJob,     Done,      Done,      Done,      Done,      NoJob     }}},
    {Action::ListProcesses,  "ListProcesses",  Who::Reader,   {{ NoJob,     Done,      Done,      Done,      Done,      NoJob     }}},
    {Action::ListMoreProcesses, "ListMoreProcesses", Who::Reader, {{ NoJob,  Done,      Done,      Done,      Done,      NoJob     }}},
    {Action::GetUsage,       "GetUsage",       Who::Reader,   {{ NoJob,     Done,      Done,      Done,      Done,      NoJob     }}},
    {Action::GetIdentity,    "GetIdentity",    Who::Reader,   {{ NoJob,     Done,      Done,      Done,      Done,      NoJob     }}},
    {Action::GetReceipt,     "GetReceipt",     Who::Reader,   {{ NoReceipt, NoReceipt, NoReceipt, NoReceipt, NoReceipt, Done      }}},
    {Action::GetProfile,     "GetProfile",     Who::Reader,   {{ NoReceipt, Done,      Done,      Done,      Done,      Done      }}},
    {Action::ListReceipts,   "ListReceipts",   Who::Everyone, {{ Done,      Done,      Done,      Done,      Done,      Done      }}},
    {Action::VacuumHistory,  "VacuumHistory",  Who::Admin,    {{ Done,      Done,      Done,      Done,      Done,      Done      }}},
    {Action::Drain,          "Drain",          Who::Admin,    {{ Done,      Done,      Done,      Done,      Done,      Done      }}},
    {Action::Undrain,        "Undrain",        Who::Admin,    {{ Done,      Done,      Done,      Done,      Done,      Done      }}},
    {Action::Reconcile,      "Reconcile",      Who::Admin,    {{ Done,      Done,      Done,      Done,      Done,      Done      }}},
    {Action::Reload,         "Reload",         Who::Admin,    {{ Done,      Done,      Done,      Done,      Done,      Done      }}},
};
// clang-format on

static_assert([] {
    for (std::size_t i = 0; i < std::size(kRules); ++i)
        if (kRules[i].action != static_cast<Action>(i))
            return false;
    return std::size(kRules) == static_cast<std::size_t>(Action::Reload) + 1;
}());

const Rule* ruleOf(Action action) {
    const auto row = static_cast<std::size_t>(action);
    return row < std::size(kRules) ? &kRules[row] : nullptr;
}

Is outcome(const Rule& rule, Phase phase) { return rule.in[static_cast<std::size_t>(phase)]; }

Error denied(std::string why) { return {ErrorCode::Denied, std::move(why)}; }

std::string userWord(uid_t uid) { return fmt::format("user {}", uid); }

Error notTheBatchSystem() { return denied("only root and pinfold-admin may mark a process as a process of the batch system"); }

Result<void> decideCreate(const Caller& caller, const Target& target) {
    if (!target.userJobsAllowed)
        return denied(userWord(caller.uid) + " may not create jobs: let the batch system create them as root, or ask the "
                                             "administrators to set jobs.allow_user_jobs");
    if (target.namesOwner)
        return denied("only root and pinfold-admin may create a job for another owner");
    if (!target.ownProcesses)
        return denied(userWord(caller.uid) + " may create a job only from a process of their own");
    if (target.reservedKey)
        return denied(fmt::format(
            "{} may not name a job '{}': only the batch system and pinfoldd use such keys; use user.<id>, or give no key",
            userWord(caller.uid), target.reservedKey));
    if (target.looserLimit)
        return denied(std::string(target.looserLimit) +
                      " is above the site's default, which only root and pinfold-admin may exceed");
    if (target.allocates)
        return denied("only root and pinfold-admin may reserve CPUs and GPUs for a job");
    if (target.shepherd)
        return notTheBatchSystem();
    if (target.speaksAsBatchSystem)
        return denied(
            "only root and pinfold-admin may name the account, the queue and the other facts that the batch system knows "
            "about a job: use labels");
    return {};
}

/// Checks that the caller owns the job, and that the owner of a job is allowed to make the request.
Result<void> decideOwners(const Caller& caller, Action action, const Target& target) {
    if (target.owner != caller.uid)
        return denied("the job belongs to another user");
    const bool addsProcesses = action == Action::AddTask || action == Action::AddTaskAgain || action == Action::Adopt;
    if (addsProcesses && !target.ownProcesses)
        return denied(userWord(caller.uid) + " may add only processes of their own to a job");
    if (addsProcesses && target.shepherd)
        return notTheBatchSystem();
    if (action == Action::SetLimits && target.looserLimit)
        return denied(std::string(target.looserLimit) +
                      " would become looser: the owner may only tighten limits, and only root and pinfold-admin may loosen them");
    return {};
}

std::string onlyAdmins(Action action) {
    switch (action) {
    case Action::OpenJob:
        return "only root and pinfold-admin may open a job that has no process yet";
    case Action::VacuumHistory:
        return "only root and pinfold-admin may remove receipts";
    case Action::Reload:
        return "only root and pinfold-admin may reload the configuration";
    case Action::Reconcile:
        return "only root and pinfold-admin may reconcile records and units";
    case Action::Drain:
    case Action::Undrain:
        return "only root and pinfold-admin may drain the node or end a drain";
    default:
        return "only root and pinfold-admin may make this request";
    }
}

} // namespace

std::optional<Action> actionOf(std::string_view method) {
    const auto* const rule =
        std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& row) { return row.method == method; });
    return rule == std::end(kRules) ? std::nullopt : std::optional(rule->action);
}

Result<void> possible(Action action, Phase phase, const std::string& key) {
    const auto job = fmt::format("job '{}'", printable(key, 300));
    const auto& rule = *ruleOf(action);
    const auto noneEver = fmt::format("no {} is live or in the history: `pinfold list` and `pinfold history` show the jobs", job);
    switch (outcome(rule, phase)) {
    case Done:
    case Needless:
        return {};
    case NoReceipt:
        return Error{ErrorCode::NoSuchReceipt, noneEver};
    case Taken:
        return Error{ErrorCode::AlreadyExists, fmt::format("{} is live already: `pinfold status {}` shows it", job, key)};
    case Early:
        return Error{ErrorCode::Busy, job + " is being created: try again"};
    case Held:
        return Error{ErrorCode::Busy, job + " is suspended: resume it first"};
    case Late:
        return Error{ErrorCode::JobEnding, job + " is ending, so it is too late for this request"};
    case NoJob:
        break;
    }
    return Error{ErrorCode::NoSuchJob, outcome(rule, Phase::Over) == Done
                                           ? noneEver
                                           : fmt::format("no live {}: `pinfold list` shows the live ones", job)};
}

Result<void> admit(const Caller& caller, Action action) {
    const auto* const rule = ruleOf(action);
    if (!rule)
        return denied("unknown request");
    if (caller.uid == kNobodyKnown)
        return denied("pinfoldd cannot find out which user calls");
    if (rule->who == Who::Admin && !caller.admin)
        return denied(onlyAdmins(action));
    return {};
}

bool isForAllJobs(const Caller& caller, Action action) {
    return caller.admin || (caller.auditor && ruleOf(action)->who == Who::Reader);
}

Result<void> decide(const Caller& caller, Action action, const Target& target) {
    if (auto admitted = admit(caller, action); !admitted)
        return admitted;
    const auto& rule = *ruleOf(action);
    const auto becomes = outcome(rule, target.phase);
    // decide() does not check the job's owner if the error is the same as for a job that does not exist. The refusal can reveal
    // that the job is live, but every user is allowed to know which jobs are live.
    if (becomes != Done && becomes == outcome(rule, Phase::NoJob))
        return possible(action, target.phase, target.key);
    // Nobody is allowed to move a process from one job into another. A process that left its job would escape from the limits of
    // the job, and would stay alive when the job ends.
    if ((action == Action::CreateJob || action == Action::AddTask || action == Action::Adopt) && target.processesInJob)
        return denied("the process is in a job already, and a process cannot move to another job");
    if (!caller.admin && rule.who == Who::Creator)
        if (auto allowed = decideCreate(caller, target); !allowed)
            return allowed;
    if (!isForAllJobs(caller, action) && (rule.who == Who::Owner || rule.who == Who::Reader))
        if (auto allowed = decideOwners(caller, action, target); !allowed)
            return allowed;
    return possible(action, target.phase, target.key);
}

} // namespace pinfold
