// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/authorizer.hpp"

#include "base/escape.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace pinfold {
namespace {

/// Who may make the request. Root and the members of pinfold-admin may make every request.
enum class Who {
    Admin,
    Owner,   ///< the owner of the job
    Creator, ///< decideCreate() decides
    Everyone,
};

/// What happens to the request in one phase of the job.
enum class Is {
    Done,
    Needless, ///< answered at once: there is nothing to do, and the answer discloses nothing
    NoJob,
    NoReceipt,
    Taken,
    Early,
    Held, ///< systemd 257 starts no unit in a frozen slice
    Late,
};

struct Rule {
    Verb verb;
    std::string_view method;
    Who who;
    std::array<Is, 6> in; ///< one for each Phase
};

using enum Is;

// The rows are in the order of Verb. tests/unit/lint compares the table with docs/security.md.
// clang-format off
constexpr Rule kRules[] = {
    //                                                           no job     starting   running    suspended  ending     over
    {Verb::CreateJob,      "CreateJob",      Who::Creator,  {{ Done,      Taken,     Taken,     Taken,     Taken,     Done      }}},
    {Verb::CreateJobAgain, "CreateJobAgain", Who::Owner,    {{ NoJob,     Done,      Done,      Done,      Done,      NoJob     }}},
    {Verb::OpenJob,        "OpenJob",        Who::Admin,    {{ Done,      Done,      Done,      Done,      Done,      Done      }}},
    {Verb::AddTask,        "AddTask",        Who::Owner,    {{ NoJob,     Early,     Done,      Held,      Late,      NoJob     }}},
    {Verb::AddTaskAgain,   "AddTaskAgain",   Who::Owner,    {{ NoJob,     Done,      Done,      Done,      Done,      NoJob     }}},
    {Verb::Adopt,          "Adopt",          Who::Owner,    {{ NoJob,     Early,     Done,      Held,      Late,      NoJob     }}},
    {Verb::EndJob,         "EndJob",         Who::Owner,    {{ NoJob,     Done,      Done,      Done,      Done,      Done      }}},
    {Verb::StopJob,        "StopJob",        Who::Owner,    {{ NoJob,     Early,     Done,      Done,      Done,      NoJob     }}},
    {Verb::KillJob,        "KillJob",        Who::Owner,    {{ NoJob,     Done,      Done,      Done,      Done,      NoJob     }}},
    {Verb::SuspendJob,     "SuspendJob",     Who::Owner,    {{ NoJob,     Early,     Done,      Done,      Late,      NoJob     }}},
    {Verb::ResumeJob,      "ResumeJob",      Who::Owner,    {{ NoJob,     Early,     Done,      Done,      Late,      NoJob     }}},
    {Verb::SetLimits,      "SetLimits",      Who::Owner,    {{ NoJob,     Early,     Done,      Done,      Late,      NoJob     }}},
    {Verb::WaitJob,        "WaitJob",        Who::Owner,    {{ NoJob,     Done,      Done,      Done,      Done,      Done      }}},
    {Verb::WaitTask,       "WaitTask",       Who::Owner,    {{ Needless,  Done,      Done,      Done,      Done,      Needless  }}},
    {Verb::ListJobs,       "ListJobs",       Who::Everyone, {{ Done,      Done,      Done,      Done,      Done,      Done      }}},
    {Verb::ListMoreJobs,   "ListMoreJobs",   Who::Everyone, {{ Done,      Done,      Done,      Done,      Done,      Done      }}},
    {Verb::GetJob,         "GetJob",         Who::Everyone, {{ NoJob,     Done,      Done,      Done,      Done,      NoJob     }}},
    {Verb::GetJobByPID,    "GetJobByPID",    Who::Everyone, {{ NoJob,     Done,      Done,      Done,      Done,      NoJob     }}},
    {Verb::GetJobByUnit,   "GetJobByUnit",   Who::Everyone, {{ NoJob,     Done,      Done,      Done,      Done,      NoJob     }}},
    {Verb::ListProcesses,  "ListProcesses",  Who::Owner,    {{ NoJob,     Done,      Done,      Done,      Done,      NoJob     }}},
    {Verb::ListMoreProcesses, "ListMoreProcesses", Who::Owner, {{ NoJob,  Done,      Done,      Done,      Done,      NoJob     }}},
    {Verb::GetUsage,       "GetUsage",       Who::Owner,    {{ NoJob,     Done,      Done,      Done,      Done,      NoJob     }}},
    {Verb::GetReceipt,     "GetReceipt",     Who::Owner,    {{ NoReceipt, NoReceipt, NoReceipt, NoReceipt, NoReceipt, Done      }}},
    {Verb::ListReceipts,   "ListReceipts",   Who::Everyone, {{ Done,      Done,      Done,      Done,      Done,      Done      }}},
    {Verb::VacuumHistory,  "VacuumHistory",  Who::Admin,    {{ Done,      Done,      Done,      Done,      Done,      Done      }}},
    {Verb::Drain,          "Drain",          Who::Admin,    {{ Done,      Done,      Done,      Done,      Done,      Done      }}},
    {Verb::Undrain,        "Undrain",        Who::Admin,    {{ Done,      Done,      Done,      Done,      Done,      Done      }}},
    {Verb::Reconcile,      "Reconcile",      Who::Admin,    {{ Done,      Done,      Done,      Done,      Done,      Done      }}},
    {Verb::Reload,         "Reload",         Who::Admin,    {{ Done,      Done,      Done,      Done,      Done,      Done      }}},
};
// clang-format on

static_assert([] {
    for (std::size_t i = 0; i < std::size(kRules); ++i)
        if (kRules[i].verb != static_cast<Verb>(i))
            return false;
    return std::size(kRules) == static_cast<std::size_t>(Verb::Reload) + 1;
}());

const Rule* ruleOf(Verb verb) {
    const auto row = static_cast<std::size_t>(verb);
    return row < std::size(kRules) ? &kRules[row] : nullptr;
}

Is outcome(const Rule& rule, Phase phase) { return rule.in[static_cast<std::size_t>(phase)]; }

Error denied(std::string why) { return {ErrorCode::Denied, std::move(why)}; }

std::string userWord(uid_t uid) { return fmt::format("user {}", uid); }

Error notTheBatchSystem() { return denied("only root and pinfold-admin may say that a process is the batch system's own"); }

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
    return {};
}

/// Checks that the caller owns the job, and asks for no more than an owner may.
Result<void> decideOwners(const Caller& caller, Verb verb, const Target& target) {
    if (target.owner != caller.uid)
        return denied("the job belongs to another user");
    const bool addsProcesses = verb == Verb::AddTask || verb == Verb::AddTaskAgain || verb == Verb::Adopt;
    if (addsProcesses && !target.ownProcesses)
        return denied(userWord(caller.uid) + " may add only processes of their own to a job");
    if (addsProcesses && target.shepherd)
        return notTheBatchSystem();
    if (verb == Verb::SetLimits && target.looserLimit)
        return denied(std::string(target.looserLimit) +
                      " would become looser: the owner may only tighten limits, and only root and pinfold-admin may loosen them");
    return {};
}

std::string onlyAdmins(Verb verb) {
    switch (verb) {
    case Verb::OpenJob:
        return "only root and pinfold-admin may open a job that has no process yet";
    case Verb::VacuumHistory:
        return "only root and pinfold-admin may remove receipts";
    case Verb::Reload:
        return "only root and pinfold-admin may reload the configuration";
    case Verb::Reconcile:
        return "only root and pinfold-admin may reconcile records and units";
    case Verb::Drain:
    case Verb::Undrain:
        return "only root and pinfold-admin may drain the node or end a drain";
    default:
        return "only root and pinfold-admin may do that";
    }
}

} // namespace

std::optional<Verb> verbOf(std::string_view method) {
    const auto* const rule =
        std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& row) { return row.method == method; });
    return rule == std::end(kRules) ? std::nullopt : std::optional(rule->verb);
}

Result<void> possible(Verb verb, Phase phase, const std::string& key) {
    const auto job = fmt::format("job '{}'", printable(key, 300));
    const auto& rule = *ruleOf(verb);
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

Result<void> admit(const Caller& caller, Verb verb) {
    const auto* const rule = ruleOf(verb);
    if (!rule)
        return denied("unknown request");
    if (caller.uid == kNobodyKnown)
        return denied("pinfoldd cannot find out which user calls");
    if (rule->who == Who::Admin && !caller.admin)
        return denied(onlyAdmins(verb));
    return {};
}

Result<void> decide(const Caller& caller, Verb verb, const Target& target) {
    if (auto admitted = admit(caller, verb); !admitted)
        return admitted;
    const auto& rule = *ruleOf(verb);
    const auto becomes = outcome(rule, target.phase);
    // If the answer is the same as for a job that does not exist, the owner does not matter: everyone may know which jobs are
    // live.
    if (becomes != Done && becomes == outcome(rule, Phase::NoJob))
        return possible(verb, target.phase, target.key);
    // Nobody may move a process from one job into another: the process would escape the first job's limits and its end.
    if ((verb == Verb::CreateJob || verb == Verb::AddTask || verb == Verb::Adopt) && target.processesInJob)
        return denied("the process is in a job already, and a process cannot move to another job");
    if (!caller.admin && rule.who == Who::Creator)
        if (auto allowed = decideCreate(caller, target); !allowed)
            return allowed;
    if (!caller.admin && rule.who == Who::Owner)
        if (auto allowed = decideOwners(caller, verb, target); !allowed)
            return allowed;
    return possible(verb, target.phase, target.key);
}

} // namespace pinfold
