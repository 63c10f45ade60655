// SPDX-License-Identifier: LGPL-2.1-or-later
#include "strays/classify.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"
#include "model/job_key.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <span>

namespace pinfold {
namespace {

constexpr std::string_view kSupervisorsHome = "pinfold.slice";
constexpr std::string_view kUserManager = "user@";
constexpr std::string_view kSession = "session-";
constexpr std::string_view kService = ".service";
constexpr std::string_view kScope = ".scope";

// Lists the names that distributions and vendors give to the units of cron.
constexpr std::array kCronUnits{"cron.service",  "crond.service",   "cronie.service",
                                "fcron.service", "anacron.service", "cron-*.service"};
constexpr std::array kAtUnits{"atd.service", "at.service"};
constexpr std::array kCronPam{"cron", "crond", "cronie", "fcron", "systemd-cron"};
constexpr std::array kAtPam{"atd", "at"};
constexpr std::array kBatchUnits{"gridengine-*.service", "sge*.service",    "slurmd*.service",
                                 "slurmstepd*.scope",    "pbs*.service",    "torque*.service",
                                 "openpbs.service",      "condor*.service", "lsf*.service"};
constexpr std::array kContainers{"docker",    "libpod-*",        "docker-*",      "containerd*",      "cri-containerd-*",
                                 "crio-*",    "machine-*.scope", "lxc.*",         "systemd-nspawn@*", "podman-*",
                                 "nerdctl-*", "apptainer-*",     "singularity-*", "kubepods*"};

bool matches(const std::string& text, std::span<const char* const> globs) {
    return std::any_of(globs.begin(), globs.end(), [&text](const char* glob) { return ::fnmatch(glob, text.c_str(), 0) == 0; });
}

/// Calls `f` for each component of the path, until `f` returns false. The first argument of `f` is one component of the path. The
/// second argument of `f` is the position in the path at which the component ends.
template <class F> void forEachComponent(std::string_view path, F&& f) {
    for (std::size_t start = 0; (start = path.find_first_not_of('/', start)) != std::string_view::npos;) {
        const auto end = std::min(path.find('/', start), path.size());
        if (!f(path.substr(start, end - start), end))
            return;
        start = end;
    }
}

bool isSlice(std::string_view name) { return name.ends_with(".slice"); }

bool holdsProcesses(std::string_view name) {
    constexpr std::array<std::string_view, 5> kinds{kService, kScope, ".mount", ".socket", ".swap"};
    return std::any_of(kinds.begin(), kinds.end(), [name](std::string_view kind) { return name.ends_with(kind); });
}

bool hasContainer(std::string_view path) {
    bool found = false;
    forEachComponent(path, [&found](std::string_view name, std::size_t) {
        found = matches(std::string(name), kContainers);
        return !found;
    });
    return found;
}

StrayKind kindOfManager(const Place& place, const Logins& logins) {
    if (hasContainer(place.below))
        return StrayKind::Container;
    const auto end = place.unit.size() - kService.size();
    const auto uid = parseUnsigned(place.unit.substr(kUserManager.size(), end - kUserManager.size()));
    return uid && logins.lingering.contains(static_cast<uid_t>(*uid)) ? StrayKind::Linger : StrayKind::UserManager;
}

StrayKind kindOfSession(const Place& place, const Logins& logins) {
    const auto end = place.unit.size() - kScope.size();
    const auto session = logins.services.find(std::string(place.unit.substr(kSession.size(), end - kSession.size())));
    const auto service = session == logins.services.end() ? std::string() : session->second;
    return matches(service, kCronPam) ? StrayKind::Cron : matches(service, kAtPam) ? StrayKind::At : StrayKind::Session;
}

} // namespace

Place placeOf(std::string_view cgroup) {
    Place place;
    place.below = cgroup;
    forEachComponent(cgroup, [&](std::string_view name, std::size_t rest) {
        if (!isSlice(name) && !holdsProcesses(name))
            return false;
        place.below = cgroup.substr(rest);
        if (!isSlice(name)) {
            place.unit = name;
            return false;
        }
        place.slices.push_back(name);
        return true;
    });
    return place;
}

StrayKind kindOf(const Place& place, const Logins& logins) {
    if (!jobSliceOf(place).empty())
        return StrayKind::Orphan;
    if (isSupervisorsHome(place))
        return StrayKind::Supervisor;
    const auto outermost = place.slices.empty() ? std::string_view() : place.slices.front();
    if (outermost == "machine.slice" || hasContainer(place.unit))
        return StrayKind::Container;
    if (place.unit.empty())
        return hasContainer(place.below) ? StrayKind::Container : StrayKind::Moved;
    if (outermost == "user.slice" && place.unit.starts_with(kUserManager) && place.unit.ends_with(kService))
        return kindOfManager(place, logins);
    if (outermost == "user.slice" && place.unit.starts_with(kSession) && place.unit.ends_with(kScope))
        return kindOfSession(place, logins);
    const std::string unit(place.unit);
    if (matches(unit, kCronUnits))
        return StrayKind::Cron;
    if (matches(unit, kAtUnits))
        return StrayKind::At;
    if (matches(unit, kBatchUnits))
        return StrayKind::BatchSystem;
    return unit.ends_with(kService) ? StrayKind::Service : StrayKind::Other;
}

std::string_view jobSliceOf(const Place& place) {
    const bool below = place.slices.size() > 1 && place.slices[0] == kBatchSlice && place.slices[1].starts_with(kSlicePrefix);
    return below ? place.slices[1] : std::string_view();
}

bool isSupervisorsHome(const Place& place) {
    return place.unit.empty() && !place.slices.empty() && place.slices[0] == kSupervisorsHome;
}

std::string unitForPeople(std::string_view cgroup) {
    std::string_view unit = cgroup;
    forEachComponent(cgroup, [&unit](std::string_view name, std::size_t) {
        if (holdsProcesses(name))
            unit = name;
        return true;
    });
    return printable(unit);
}

bool matchesUnit(const Place& place, const std::vector<std::string>& globs) {
    const auto matched = [&globs](std::string_view name) {
        return std::any_of(globs.begin(), globs.end(), [text = std::string(name)](const auto& glob) {
            return ::fnmatch(glob.c_str(), text.c_str(), 0) == 0;
        });
    };
    return (!place.unit.empty() && matched(place.unit)) || std::any_of(place.slices.begin(), place.slices.end(), matched);
}

} // namespace pinfold
