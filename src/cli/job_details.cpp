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

Result<void> askHolding(const ManagerClient& client, JobDetail& detail) {
    auto holding = retryWhileBusy([&] { return client.holding(detail.job); });
    if (!holding)
        return holding.error();
    detail.limits = std::move(holding->limits);
    detail.limitsNotEnforced = std::move(holding->limitsNotEnforced);
    detail.allocation = std::move(holding->allocation);
    detail.slots = holding->slots;
    return {};
}

Result<void> askUsage(const ManagerClient& client, JobDetail& detail) {
    if (auto usage = retryWhileBusy([&] { return client.usage(detail.job.key); }))
        detail.usage = std::move(*usage);
    else if (hasNoAnswer(usage.error()) || usage.error().code == ErrorCode::NoSuchJob)
        return usage.error();
    else
        detail.usageDenied = usage.error().code == ErrorCode::Denied;
    return {};
}

Result<void> askIdentity(const ManagerClient& client, JobDetail& detail) {
    // If pinfoldd is too old to have the method GetIdentity, the error of identity() is Unreachable.
    auto identity = retryWhileBusy([&] { return client.identity(detail.job.key); });
    if (identity)
        detail.identity = std::move(*identity);
    else if (identity.error().code == ErrorCode::NoSuchJob ||
             (hasNoAnswer(identity.error()) && identity.error().code != ErrorCode::Unreachable))
        return identity.error();
    return {};
}

Result<JobDetail> askWithoutProcesses(const ManagerClient& client, const JobInfo& job, const DetailParts& parts) {
    JobDetail detail{.job = job};
    if (parts.holding)
        if (auto asked = askHolding(client, detail); !asked)
            return asked.error();
    if (parts.usage)
        if (auto asked = askUsage(client, detail); !asked)
            return asked.error();
    // A caller who is not allowed to see a job's usage is not allowed to see the job's identity, either.
    if (parts.identity && !detail.usageDenied)
        if (auto asked = askIdentity(client, detail); !asked)
            return asked.error();
    return detail;
}

} // namespace

bool isLiveHere(const std::string& key) {
    const auto client = ManagerClient::connect();
    return client && client->job(key);
}

Result<JobDetail> askDetail(const ManagerClient& client, const std::string& key) {
    const auto job = client.job(key);
    auto detail = job ? askWithoutProcesses(client, *job, kAllParts) : Result<JobDetail>(job.error());
    if (!detail)
        return detail;
    if (auto processes = client.processes(key))
        detail->processes = std::move(*processes);
    return detail;
}

Result<std::vector<JobDetail>> askDetails(const ManagerClient& client, const std::vector<JobInfo>& jobs,
                                          const DetailParts& parts) {
    std::vector<JobDetail> details;
    for (const auto& job : jobs) {
        // PID 1 sometimes takes a long time to create the units of a job, so askDetails() does not wait until pinfoldd has
        // created the job.
        auto detail = job.state == ShownState::Creating ? JobDetail{.job = job} : askWithoutProcesses(client, job, parts);
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
