// SPDX-License-Identifier: LGPL-2.1-or-later
#include "strays/find.hpp"

#include "strays/classify.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace pinfold {
namespace {

/// Returns true if a live job explains why the process is in its cgroup. If pinfold does not know the live jobs, isOfAJob()
/// returns true for each process in the slice of any job.
bool isOfAJob(const SeenProcess& process, const Place& place, const JobKnowledge& jobs) {
    if (const auto slice = jobSliceOf(place); !slice.empty())
        return !jobs.jobsKnown || jobs.slices.contains(std::string(slice));
    if (isSupervisorsHome(place) && !jobs.recordsKnown)
        return true;
    return jobs.isOurs({process.info.pid, process.info.started});
}

bool isExempt(const SeenProcess& process, const Place& place, const StrayPolicy& policy) {
    const auto uid = process.info.realUid;
    if ((!policy.config.users.empty() && !policy.users.contains(uid)) || policy.exemptUsers.contains(uid))
        return true;
    const auto& groups = process.info.groups;
    return std::any_of(groups.begin(), groups.end(), [&policy](gid_t gid) { return policy.exemptGroups.contains(gid); }) ||
           matchesUnit(place, policy.config.exemptUnits);
}

bool isWanted(const Stray& stray, const StraysConfig& config) {
    const auto& info = stray.process.info;
    return stray.age >= config.minAge && info.cpu >= config.minCpu && !(config.withoutJob && stray.hasJob.value_or(false));
}

bool hasCommand(const ProcessInfo& info, const StraysConfig& config) {
    return config.commands.empty() ||
           std::any_of(config.commands.begin(), config.commands.end(),
                       [&info](const std::string& glob) { return ::fnmatch(glob.c_str(), info.command.c_str(), 0) == 0; });
}

std::optional<std::string> whySpared(const Stray& stray, const StrayPolicy& policy) {
    if (stray.kind == StrayKind::Orphan)
        return "the state of its job is unknown";
    if (!policy.config.kinds.contains(stray.kind))
        return "the chosen kinds do not include the stray's kind";
    if (stray.process.cgroup == policy.ownCgroup)
        return "this command runs in the same unit as the stray";
    return std::nullopt;
}

/// Chooses the strays on which this run of `pinfold strays` acts. If there are more strays than the maximum for one run of
/// `pinfold strays`, choose() takes strays of all users in turn. Even if one user has very many strays, choose() also takes the
/// strays of the other users. choose() counts the strays of a subordinate id as strays of the user who owns the id.
void choose(std::vector<Stray>& strays, const StrayPolicy& policy) {
    std::map<std::string, std::size_t> turns;
    std::vector<std::pair<std::size_t, Stray*>> chosen; // each number says how many strays of the same user come earlier
    for (auto& stray : strays)
        if (stray.spared = whySpared(stray, policy); !stray.spared)
            chosen.emplace_back(turns[ownerOf(policy.subordinates, stray.process.info.realUid)]++, &stray);
    std::ranges::stable_sort(chosen, {}, &decltype(chosen)::value_type::first);
    for (std::size_t i = policy.config.maxKills; i < chosen.size(); ++i)
        chosen[i].second->spared = "max_kills is reached";
}

} // namespace

std::vector<Stray> findStrays(std::vector<SeenProcess> processes, const JobKnowledge& jobs, const Logins& logins,
                              const StrayPolicy& policy, BootTime now, const std::function<void(ProcessInfo&)>& describe) {
    std::vector<Stray> strays;
    for (auto& process : processes) {
        const auto place = placeOf(process.cgroup);
        if (!isOrdinaryUser(process.info.realUid, policy.config) || isOfAJob(process, place, jobs) ||
            isExempt(process, place, policy))
            continue;
        Stray stray;
        stray.kind = kindOf(place, logins);
        stray.unit = unitForPeople(process.cgroup);
        stray.age = timeBetween(process.info.started, now);
        if (jobs.jobsKnown)
            stray.hasJob = jobs.users.contains(process.info.realUid);
        stray.process = std::move(process);
        if (!isWanted(stray, policy.config))
            continue;
        describe(stray.process.info);
        if (hasCommand(stray.process.info, policy.config))
            strays.push_back(std::move(stray));
    }
    std::sort(strays.begin(), strays.end(), [](const Stray& a, const Stray& b) {
        return std::tie(a.process.info.realUid, a.process.info.pid) < std::tie(b.process.info.realUid, b.process.info.pid);
    });
    choose(strays, policy);
    return strays;
}

} // namespace pinfold
