// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/receipts.hpp"

#include "base/escape.hpp"
#include "base/paths.hpp"
#include "bus_client/manager_client.hpp"
#include "cli/archive_receipts.hpp"
#include "model/hosts_of_job.hpp"
#include "model/job_key.hpp"
#include "wording/name_list.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
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

/// Returns the hosts of a job as "node1, node2 and 7 more". If pinfoldd on this host has no receipt of the job, knownHosts()
/// returns an empty text.
std::string knownHosts(const std::string& key) {
    const auto client = ManagerClient::connect();
    const auto own = client ? client->receipt(key) : Result<Receipt>(client.error());
    if (!own)
        return "";
    const auto& nodes = own->identity.nodes;
    if (nodes.empty())
        return own->origin.host.value_or("");
    return nameList(nodes, std::max<std::uint64_t>(nodes.size(), own->identity.nodeCount.value_or(0)));
}

/// Asks the archive for receipts of the job with the key `key`. If the archive is down, the error names each host of the job that
/// this host knows. The user can read the job's receipts on the hosts that the error names.
Result<std::vector<Receipt>> receiptsOfJob(const std::string& key, const ArchiveQuery& query) {
    auto receipts = receiptsOfArchive(query);
    if (receipts || (receipts.error().code != ErrorCode::Unreachable && receipts.error().code != ErrorCode::TimedOut))
        return receipts;
    auto error = receipts.error();
    if (const auto hosts = knownHosts(key); !hosts.empty())
        error.message += fmt::format("; job {} ran on {}: each of these hosts has a receipt of its own. On such a host, `pinfold "
                                     "why` shows the receipt if archive.ask is not set",
                                     printable(key, 300), hosts);
    return error;
}

/// Reads the receipts from the history's file, because pinfoldd does not answer. If the caller cannot read the file, fromFile()
/// returns the error `why`. The argument `why` is the error of the call to pinfoldd.
Result<std::vector<Receipt>> fromFile(const ReceiptFilter& filter, const Error& why) {
    const auto history = History::open(kHistoryFile, History::Mode::ReadOnly);
    if (!history)
        return why;
    std::fprintf(stderr, "pinfold: %s; the receipts are read from %s\n", why.message.c_str(), kHistoryFile);
    return history->list(filter);
}

/// Returns the newest receipt of the job. Without pinfoldd, nobody knows whether a job without a receipt is over.
Result<std::vector<Receipt>> newestOnThisHost(const ReceiptFilter& filter) {
    auto receipts = fromDaemon(filter);
    if (receipts || receipts.error().code != ErrorCode::Unreachable)
        return receipts;
    const auto away = receipts.error();
    receipts = fromFile(filter, away);
    const auto key = JobKey::parse(*filter.key);
    const bool known = receipts ? !receipts->empty() : receipts.error().code != ErrorCode::Unreachable;
    if (known || !key)
        return receipts;
    // If fromFile() could read the file, fromFile() has already printed the error of the call to pinfoldd.
    return Error{ErrorCode::Unreachable,
                 fmt::format("{}; the job may still run: see `systemctl status '{}'`",
                             receipts ? "the file has no receipt of job " + key->text() : away.message, key->sliceName())};
}

} // namespace

Result<std::vector<Receipt>> findReceipts(const ReceiptFilter& filter) {
    const auto archive = asksArchive();
    if (!archive)
        return archive.error();
    if (*archive)
        return filter.key ? receiptsOfJob(*filter.key, {.filter = filter}) : receiptsOfArchive({.filter = filter});
    auto receipts = fromDaemon(filter);
    if (receipts || receipts.error().code != ErrorCode::Unreachable)
        return receipts;
    return fromFile(filter, receipts.error());
}

Result<std::vector<Receipt>> receiptsOfNewestRun(const std::string& key, WithProfiles profiles) {
    const auto archive = asksArchive();
    if (!archive)
        return archive.error();
    const bool wanted = profiles == WithProfiles::Yes;
    auto receipts = *archive ? receiptsOfJob(key, {.filter = {.profiles = wanted}, .allHostsOf = key})
                             : newestOnThisHost({.key = key, .limit = 1, .profiles = wanted});
    if (!receipts)
        return receipts.error();
    if (receipts->empty())
        return noReceipt(key);
    return newestRun(*std::move(receipts));
}

Result<Profile> profileOf(const Receipt& receipt) {
    if (receipt.profile.empty())
        return Profile();
    auto profile = decodeProfile(receipt.profile);
    if (!profile)
        return Error{ErrorCode::Internal, fmt::format("{}: {}", printable(receipt.origin.host.value_or("unknown host"), 300),
                                                      profile.error().message)};
    return profile;
}

Profile knownProfileOf(const Receipt& receipt) {
    auto profile = profileOf(receipt);
    if (profile)
        return *std::move(profile);
    std::fprintf(stderr, "pinfold: %s\n", profile.error().message.c_str());
    return {};
}

} // namespace pinfold
