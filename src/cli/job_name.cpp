// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/job_name.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"
#include "bus_client/manager_client.hpp"
#include "cli/archive_receipts.hpp"
#include "cli/receipts.hpp"
#include "model/job_key.hpp"

#include <fmt/core.h>

#include <set>
#include <string>
#include <vector>

namespace pinfold {
namespace {

// If the user types an id without a batch system, pinfold tries the prefixes in kSchedulers, because the history finds a job
// only by its whole key. Torque and OpenPBS are not in kSchedulers, because their job ids contain the server's name.
constexpr const char* kSchedulers[] = {"sge", "slurm", "manual", "user"};

std::string idOf(const std::string& key) { return key.substr(key.find('.') + 1); }

enum class Among { Live, All };

/// Lists the live jobs of this host. If this host asks the archive and does not run pinfoldd, for example a login node, the list
/// is empty.
Result<std::vector<JobInfo>> liveJobs() {
    const auto client = ManagerClient::connect();
    auto jobs = client ? client->listJobs() : Result<std::vector<JobInfo>>(client.error());
    const auto archive = asksArchive();
    if (!jobs && jobs.error().code == ErrorCode::Unreachable && archive && *archive)
        return std::vector<JobInfo>();
    return jobs;
}

std::string keyWith(const char* scheduler, const std::string& id) { return std::string(scheduler) + "." + id; }

/// Returns those keys with this id for which pinfoldd on this host has a receipt.
std::set<std::string> keysOnThisHost(const std::string& id) {
    std::set<std::string> keys;
    const auto client = ManagerClient::connect();
    for (const char* scheduler : kSchedulers)
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
        if (idOf(job.key) == id)
            keys.insert(job.key);
    if (!keys.empty() || among == Among::Live)
        return keys;
    for (const char* scheduler : kSchedulers) {
        const auto key = keyWith(scheduler, id);
        const auto receipts = findReceipts({.key = key, .limit = 1});
        if (!receipts) {
            // If the archive is down, the verb only names the hosts of the job. pinfoldd on this host knows the hosts from a
            // receipt, and this receipt also has the key.
            keys = keysOnThisHost(id);
            return keys.empty() ? Result<std::set<std::string>>(receipts.error()) : keys;
        }
        if (!receipts->empty())
            keys.insert(key);
    }
    return keys;
}

bool isUnit(const std::string& name) { return name.ends_with(".scope") || name.ends_with(".slice"); }

Result<std::string> keyOfUnit(const std::string& name) {
    if (const auto unit = identifyUnit(name))
        return unit->key.text();
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("'{}' is not a unit of a job: use batch-….slice or job-….scope", printable(name, 300))};
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
    std::string all;
    for (const auto& key : keys)
        all += (all.empty() ? "" : ", ") + key;
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("several jobs have the id '{}': name one of {}", printable(name, 300), all)};
}

} // namespace

Result<std::string> keyOf(const std::string& name, bool orProcess) {
    if (isUnit(name))
        return keyOfUnit(name);
    if (name.find('.') != std::string::npos)
        return name;
    const bool process = orProcess && parseUnsigned(name);
    const auto keys = keysWith(name, process ? Among::Live : Among::All);
    if (!keys)
        return keys.error();
    return process && keys->empty() ? name : onlyOne(*keys, name);
}

} // namespace pinfold
