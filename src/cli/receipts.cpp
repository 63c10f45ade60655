// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/receipts.hpp"

#include "base/escape.hpp"
#include "base/paths.hpp"
#include "bus_client/manager_client.hpp"
#include "cli/archive_receipts.hpp"
#include "model/hosts_of_job.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

namespace pinfold {
namespace {

Result<std::vector<Receipt>> fromDaemon(const ReceiptFilter& filter) {
    const auto client = ManagerClient::connect();
    if (!client)
        return client.error();
    return client->receipts(filter);
}

Error noReceipt(const std::string& key) {
    const auto archive = asksArchive();
    const char* why = archive && *archive
                          ? "the archive has no receipt of a job '{}' that you may see: the job is not over, or its node "
                            "has not sent the receipt yet"
                          : "no receipt of a job '{}' that you may see: `pinfold history` lists the receipts";
    return {ErrorCode::NoSuchReceipt, fmt::format(fmt::runtime(why), printable(key, 300))};
}

} // namespace

Result<std::vector<Receipt>> findReceipts(const ReceiptFilter& filter) {
    const auto archive = asksArchive();
    if (!archive)
        return archive.error();
    if (*archive)
        return receiptsOfArchive({.filter = filter});
    auto receipts = fromDaemon(filter);
    if (receipts || receipts.error().code != ErrorCode::Unreachable)
        return receipts;
    const auto history = History::open(kHistoryFile, History::Mode::ReadOnly);
    if (!history)
        return receipts;
    std::fprintf(stderr, "pinfold: %s; the receipts are read from %s\n", receipts.error().message.c_str(), kHistoryFile);
    return history->list(filter);
}

Result<std::vector<Receipt>> receiptsOfNewestRun(const std::string& key) {
    const auto archive = asksArchive();
    if (!archive)
        return archive.error();
    auto receipts = *archive ? receiptsOfArchive({.allHostsOf = key}) : findReceipts({.key = key, .limit = 1});
    if (!receipts)
        return receipts.error();
    if (receipts->empty())
        return noReceipt(key);
    return newestRun(*std::move(receipts));
}

Result<Profile> profileOfReceipt(const std::string& key) {
    // A host that asks the archive may show a receipt from another host, but pinfoldd on this host has only profiles of its own
    // jobs.
    if (const auto archive = asksArchive(); archive && *archive)
        return Error{ErrorCode::NoSuchReceipt,
                     fmt::format("the archive has no profiles: run `pinfold plot {}` on the job's node", printable(key, 300))};
    const auto client = ManagerClient::connect();
    if (!client)
        return client.error();
    // The profile is read before the list of jobs, so a job that begins between the two calls does not change the profile.
    auto profile = client->profile(key);
    const auto jobs = client->listJobs();
    if (!jobs)
        return jobs.error();
    if (std::ranges::any_of(*jobs, [&key](const JobInfo& live) { return live.key == key; }))
        return Error{ErrorCode::NoSuchReceipt, fmt::format("a live job has the key {}", key)};
    return profile;
}

} // namespace pinfold
