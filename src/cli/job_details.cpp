// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/job_details.hpp"

#include "cli/retry.hpp"

namespace pinfold {
namespace {

/// Returns true if the error only says that pinfoldd has not answered. If pinfoldd has not answered, the state of the job is not
/// known.
bool hasNoAnswer(const Error& error) {
    return error.code == ErrorCode::Unreachable || error.code == ErrorCode::TimedOut || error.code == ErrorCode::Busy;
}

Result<JobDetail> askWithoutProcesses(const ManagerClient& client, const JobInfo& job) {
    auto holding = retryWhileBusy([&] { return client.holding(job); });
    if (!holding)
        return holding.error();
    JobDetail detail{.job = job,
                     .limits = std::move(holding->limits),
                     .limitsNotEnforced = std::move(holding->limitsNotEnforced),
                     .allocation = std::move(holding->allocation),
                     .slots = holding->slots};
    if (auto usage = retryWhileBusy([&] { return client.usage(job.key); }))
        detail.usage = std::move(*usage);
    else if (hasNoAnswer(usage.error()))
        return usage.error();
    else
        detail.usageDenied = usage.error().code == ErrorCode::Denied;
    // A caller who may not see a job's usage may not see the job's identity either.
    if (detail.usageDenied)
        return detail;
    // If pinfoldd is too old to have the method GetIdentity, the error of identity() is Unreachable.
    if (auto identity = retryWhileBusy([&] { return client.identity(job.key); }))
        detail.identity = std::move(*identity);
    else if (hasNoAnswer(identity.error()) && identity.error().code != ErrorCode::Unreachable)
        return identity.error();
    return detail;
}

} // namespace

bool isLiveHere(const std::string& key) {
    const auto client = ManagerClient::connect();
    return client && client->job(key);
}

Result<JobDetail> askDetail(const ManagerClient& client, const std::string& key) {
    const auto job = client.job(key);
    auto detail = job ? askWithoutProcesses(client, *job) : Result<JobDetail>(job.error());
    if (!detail)
        return detail;
    if (auto processes = client.processes(key))
        detail->processes = std::move(*processes);
    return detail;
}

Result<std::vector<JobDetail>> askDetails(const ManagerClient& client, const std::vector<JobInfo>& jobs) {
    std::vector<JobDetail> details;
    for (const auto& job : jobs) {
        // PID 1 may take a long time to create a job, so askDetails() does not wait for the creation of the job.
        auto detail = job.state == ShownState::Creating ? JobDetail{.job = job} : askWithoutProcesses(client, job);
        if (detail)
            details.push_back(std::move(*detail));
        else if (hasNoAnswer(detail.error()))
            return detail.error();
        else if (detail.error().code != ErrorCode::NoSuchJob)
            details.push_back({.job = job});
    }
    return details;
}

} // namespace pinfold
