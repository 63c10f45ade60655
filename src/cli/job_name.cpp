// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/job_name.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"
#include "base/word_list.hpp"
#include "bus_client/manager_client.hpp"
#include "cli/archive_receipts.hpp"
#include "cli/receipts.hpp"
#include "model/job_key.hpp"

#include <fmt/core.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {
namespace {

// If the user types only a number, such as "4711", pinfold tries the number with the name of each batch system. To find a job in
// the history, pinfold needs the whole key of the job. The ids of OpenPBS and Torque contain the server's name, as in
// "4711.server". The ids of batch systems other than OpenPBS and Torque contain no dot.
constexpr std::array kSchedulers{"sge", "slurm", "manual", "user"};
constexpr std::array kSchedulersWithServer{"pbs", "torque"};

std::span<const char* const> schedulersOf(const std::string& id) {
    return id.find('.') == std::string::npos ? std::span<const char* const>(kSchedulers) : kSchedulersWithServer;
}

/// Returns true if the text is the id of a job of OpenPBS or Torque, such as "4711.server" or "4711[3].server".
bool isIdWithServer(const std::string& text) {
    const auto end = text.find_first_not_of("0123456789[]");
    return end != std::string::npos && end > 0 && text[end] == '.';
}

/// Returns true if the job with the key `key` has the id `id`. For OpenPBS and Torque, the user can leave out the name of the
/// server in the id.
bool hasId(const std::string& key, const std::string& id) {
    const auto dot = key.find('.');
    const auto whole = std::string_view(key).substr(dot + 1);
    const bool namesServer =
        std::ranges::find(kSchedulersWithServer, std::string_view(key).substr(0, dot)) != kSchedulersWithServer.end();
    return whole == id || (namesServer && whole.substr(0, whole.find('.')) == id);
}

bool isProcess(const std::string& name) { return parseUnsigned(name) && ::access(("/proc/" + name).c_str(), F_OK) == 0; }

enum class Among { Live, All };

/// Lists the live jobs of this host. If this host asks the archive and does not run pinfoldd, as on a login node, liveJobs()
/// returns an empty list.
Result<std::vector<JobInfo>> liveJobs() {
    const auto client = ManagerClient::connect();
    auto jobs = client ? client->listJobs() : Result<std::vector<JobInfo>>(client.error());
    const auto archive = asksArchive();
    if (!jobs && jobs.error().code == ErrorCode::Unreachable && archive && *archive)
        return std::vector<JobInfo>();
    return jobs;
}

std::string keyWith(const char* scheduler, const std::string& id) { return std::string(scheduler) + "." + id; }

/// Returns the keys of the jobs that have the id `id` and a receipt on this host.
std::set<std::string> keysOnThisHost(const std::string& id) {
    std::set<std::string> keys;
    const auto client = ManagerClient::connect();
    for (const char* scheduler : schedulersOf(id))
        if (client && client->receipt(keyWith(scheduler, id)))
            keys.insert(keyWith(scheduler, id));
    return keys;
}

Result<std::set<std::string>> keysWith(const std::string& id, Among among) {
    const auto jobs = liveJobs();
    if (!jobs)
        return jobs.error();
    std::set<std::string> keys;
    for (const auto& job : *jobs)
        if (hasId(job.key, id))
            keys.insert(job.key);
    if (!keys.empty() || among == Among::Live)
        return keys;
    for (const char* scheduler : schedulersOf(id)) {
        const auto key = keyWith(scheduler, id);
        const auto receipts = findReceipts({.key = key, .limit = 1});
        if (!receipts) {
            // If the archive is down, pinfold looks for the key in the receipts of this host. If this host has a receipt of the
            // job, the error message of the verb can name the hosts of the job.
            keys = keysOnThisHost(id);
            return keys.empty() ? Result<std::set<std::string>>(receipts.error()) : keys;
        }
        if (!receipts->empty())
            keys.insert(key);
    }
    return keys;
}

/// Returns true if a job with this key is live. Returns true if the job is over and the caller is allowed to see its receipt.
Result<bool> isKeyOfJob(const std::string& key) {
    if (!JobKey::parse(key))
        return false;
    const auto jobs = liveJobs();
    if (!jobs)
        return jobs.error();
    if (std::ranges::find(*jobs, key, &JobInfo::key) != jobs->end())
        return true;
    const auto receipts = findReceipts({.key = key, .limit = 1});
    return receipts ? Result<bool>(!receipts->empty()) : Result<bool>(receipts.error());
}

bool isUnit(const std::string& name) { return name.ends_with(".scope") || name.ends_with(".slice"); }

/// Returns the key of the unit's job. A key such as "own.a.scope" looks like a unit, but is never the name of a job's unit. In
/// the name of a job's unit, the text before the first dot contains a '-', as in "job-sge.4711.scope".
Result<std::string> keyOfUnit(const std::string& name) {
    if (const auto unit = identifyUnit(name))
        return unit->key.text();
    const auto isKey = isKeyOfJob(name);
    if (!isKey)
        return isKey.error();
    if (*isKey)
        return name;
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("'{}' is neither the key nor a unit of a job: use the key that `pinfold list` shows, or a unit such as "
                    "batch-….slice or job-….scope",
                    printable(name, 300))};
}

Result<std::string> onlyOne(const std::set<std::string>& keys, const std::string& name) {
    if (keys.size() == 1)
        return *keys.begin();
    if (keys.empty())
        return Error{
            ErrorCode::NoSuchJob,
            fmt::format(
                "no job '{}' that you may see is live or in the history: `pinfold list` and `pinfold history` show the keys",
                printable(name, 300))};
    return Error{ErrorCode::InvalidArgument, fmt::format("several jobs have the id '{}': use {}", printable(name, 300),
                                                         enumerated({keys.begin(), keys.end()}))};
}

} // namespace

Result<std::string> keyOf(const std::string& name, bool orProcess) {
    if (isUnit(name))
        return keyOfUnit(name);
    if (name.find('.') != std::string::npos && !isIdWithServer(name))
        return name;
    const bool process = orProcess && isProcess(name);
    const auto keys = keysWith(name, process ? Among::Live : Among::All);
    if (!keys)
        return keys.error();
    return process && keys->empty() ? name : onlyOne(*keys, name);
}

} // namespace pinfold
