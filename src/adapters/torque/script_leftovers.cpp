// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/torque/script_leftovers.hpp"

#include "base/message_ids.hpp"
#include "base/paths.hpp"
#include "os/journal.hpp"
#include "os/process.hpp"
#include "os/user_database.hpp"
#include "socket_client/failure_policy.hpp"
#include "store/record_store.hpp"

#include <poll.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <utility>
#include <vector>

namespace pinfold::torque {
namespace {

constexpr int kRounds = 20;          // the maximum number of searches for leftovers; one search can miss a process that forks
constexpr int kDeathWait = 1000;     // how long pinfold waits for the end of killed processes, in milliseconds
constexpr Microseconds kTick = 10ms; // the kernel rounds the start time of a process down to a multiple of 10 ms
constexpr std::size_t kMostNamed = 20;

struct Found {
    ProcessInfo info;
    UniqueFd pidfd;
};

/// Holds the data that one search for leftovers needs.
struct Search {
    ProcessTable table;
    std::string cgroup; ///< the path of pbs_mom's cgroup
    uid_t user = 0;
    /// the start of the user's oldest live job (CLOCK_BOOTTIME); the job that the epilogue ends does not count
    std::optional<BootTime> othersSince;

    bool mayBeOfAnotherJob(const ProcessInfo& info) const { return othersSince && *othersSince <= info.started + kTick; }
};

/// Returns true if none of the process's ancestors belongs to root. PID 1 does not count as an ancestor. pbs_mom belongs to root,
/// and is an ancestor of all processes of a script that still runs.
bool isOrphan(const ProcessTable& table, const ProcessInfo& info) {
    for (auto parent = info.parent; parent > 1;) {
        const auto next = table.read(parent);
        if (!next || next->realUid == 0)
            return false;
        parent = next->parent;
    }
    return info.parent != 0;
}

std::optional<Found> leftBehind(const Search& search, pid_t pid) {
    auto pidfd = openPidfd(pid);
    auto info = pidfd ? search.table.read(pid) : Result<ProcessInfo>(pidfd.error());
    if (!info || info->realUid != search.user || info->state == kZombie || search.mayBeOfAnotherJob(*info) ||
        !isOrphan(search.table, *info))
        return std::nullopt;
    const auto cgroup = search.table.cgroupOf(*info);
    if (!cgroup || *cgroup != search.cgroup || hasEnded(pidfd->get()))
        return std::nullopt;
    return Found{std::move(*info), std::move(*pidfd)};
}

std::vector<Found> killRound(const Search& search) {
    std::vector<Found> found;
    const auto pids = search.table.pids();
    for (const auto pid : pids ? *pids : std::vector<pid_t>())
        if (auto process = leftBehind(search, pid); process && sendSignalTo(process->pidfd.get(), SIGKILL))
            found.push_back(std::move(*process));
    for (const auto& process : found) {
        pollfd ended{.fd = process.pidfd.get(), .events = POLLIN, .revents = 0};
        (void)::poll(&ended, 1, kDeathWait);
    }
    return found;
}

void sayKilled(const std::string& key, uid_t user, const std::vector<ProcessInfo>& killed) {
    JournalEvent event;
    event.priority = LOG_WARNING;
    event.messageId = kMessageLeftovers;
    event.message = "job " + key + ": killed what a prologue or epilogue of its user left behind:";
    for (std::size_t i = 0; i < std::min(killed.size(), kMostNamed); ++i)
        event.message += ' ' + killed[i].command + ' ' + std::to_string(killed[i].pid);
    if (killed.size() > kMostNamed)
        event.message += " and " + std::to_string(killed.size() - kMostNamed) + " more";
    event.fields = {{"PINFOLD_EVENT", "leftovers"},
                    {"PINFOLD_JOB", key},
                    {"PINFOLD_SCHEDULER", "torque"},
                    {"PINFOLD_UID", std::to_string(user)},
                    {"PINFOLD_LEFTOVER_COUNT", std::to_string(killed.size())}};
    SdJournal("torque-epilogue").event(event);
}

/// Prepares a search for leftovers. Returns nullopt if pinfold cannot read the data that the search for leftovers needs.
std::optional<Search> search(const std::string& key, const std::string& user) {
    Search search;
    const auto uid = findUser(user);
    const auto cgroup = search.table.cgroupOf(::getpid());
    const auto records = RecordStore(kRecordsDirectory).read();
    if (!uid || *uid == 0 || !cgroup || !records || !records->unreadable.empty())
        return std::nullopt;
    search.user = *uid;
    search.cgroup = *cgroup;
    for (const auto& record : records->records)
        if (record.uid == *uid && record.key.text() != key)
            search.othersSince = std::min(search.othersSince.value_or(record.createdBoot), record.createdBoot);
    return search;
}

} // namespace

void endScriptLeftovers(const std::string& key, const std::string& user) {
    // If the site lets jobs run without a scope, an orphan in pbs_mom's cgroup can be a process of a running job.
    if (siteRunsUnconfined({ErrorCode::Unreachable, ""}))
        return;
    const auto wanted = search(key, user);
    std::vector<ProcessInfo> killed;
    for (int round = 0; wanted && round < kRounds; ++round) {
        auto found = killRound(*wanted);
        if (found.empty())
            break;
        for (auto& process : found)
            killed.push_back(std::move(process.info));
    }
    if (!killed.empty())
        sayKilled(key, wanted->user, killed);
}

} // namespace pinfold::torque
