// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/authorizer.hpp"

#include <string>

namespace pinfold {
namespace {

Error denied(std::string why) { return {ErrorCode::Denied, std::move(why)}; }

std::string userWord(uid_t uid) { return "user " + std::to_string(uid); }

Error notTheBatchSystem() { return denied("only root and pinfold-admin may say that a process is the batch system's own"); }

Result<void> decideCreate(const Caller& caller, const Target& target) {
    if (!target.userJobsAllowed)
        return denied(userWord(caller.uid) +
                      " may not create jobs: ask the site to set jobs.allow_user_jobs, or let the batch system do it as root");
    if (target.namesOwner)
        return denied("only root and pinfold-admin may name another owner for a job");
    if (!target.ownProcesses)
        return denied(userWord(caller.uid) + " may create a job only for a process of their own");
    if (target.looserLimit)
        return denied(std::string(target.looserLimit) +
                      " is above the site's default, which only root and pinfold-admin may exceed");
    if (target.allocates)
        return denied("only root and pinfold-admin may give CPUs and GPUs to one job alone");
    if (target.shepherd)
        return notTheBatchSystem();
    return {};
}

} // namespace

Result<void> decide(const Caller& caller, Verb verb, const Target& target) {
    // Nobody may move a process from one job into another: it would leave the first one's limits and its end.
    if ((verb == Verb::Create || verb == Verb::AddProcess) && target.processesInJob)
        return denied("the process is in a job already; a process stays in the job that it is in");
    if (caller.admin || verb == Verb::List)
        return {};

    switch (verb) {
    case Verb::Create:
        return decideCreate(caller, target);
    case Verb::AddProcess:
        if (target.owner != caller.uid)
            return denied("the job belongs to another user");
        if (!target.ownProcesses)
            return denied(userWord(caller.uid) + " may add only processes of their own");
        if (target.shepherd)
            return notTheBatchSystem();
        return {};
    case Verb::Open:
        return denied("only root and pinfold-admin may open a job before there is a process of it");
    case Verb::SetLimits:
        if (target.owner != caller.uid)
            return denied("the job belongs to another user");
        if (target.looserLimit)
            return denied(std::string(target.looserLimit) +
                          " would be looser than it is: only root and pinfold-admin may do that, the owner may tighten");
        return {};
    case Verb::End:
    case Verb::Stop:
    case Verb::Kill:
    case Verb::Suspend:
    case Verb::Wait:
    case Verb::ListProcesses:
    case Verb::GetUsage:
    case Verb::ReadReceipt:
        if (target.owner != caller.uid)
            return denied("the job belongs to another user");
        return {};
    case Verb::List:
        return {};
    case Verb::VacuumHistory:
        return denied("only root and pinfold-admin may remove receipts");
    case Verb::Reload:
        return denied("only root and pinfold-admin may reload the configuration");
    case Verb::Reconcile:
        return denied("only root and pinfold-admin may reconcile records and units");
    case Verb::Drain:
        return denied("only root and pinfold-admin may drain the node, or have it take jobs again");
    }
    return denied("unknown request");
}

} // namespace pinfold
