// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/restart/reconciler.hpp"

#include "core/report/events.hpp"

#include <utility>

namespace pinfold {
namespace {

const std::vector<std::string> kPatterns{"batch-*.slice", "job-*.scope"};

/// Returns the path of the cgroup that systemd gives to a unit of pinfoldd. If another program has created a scope with the name
/// of a pinfold scope, the scope's cgroup can have a different path.
std::string cgroupOf(const UnitIdentity& identity) {
    return identity.task ? scopePath(identity.key, *identity.task) : slicePath(identity.key);
}

bool removeTree(const CgroupTree& cgroups, const std::string& path) {
    for (const auto& child : cgroups.children(path))
        if (!removeTree(cgroups, path + "/" + child))
            return false;
    return bool(cgroups.remove(path));
}

} // namespace

struct Reconciler::Run {
    Run(bool dryRunArg, Reply<Reconciliation> replyArg) : dryRun(dryRunArg), reply(std::move(replyArg)) {}

    bool dryRun;
    Reply<Reconciliation> reply;
    Reconciliation found;
    std::set<std::string> known; ///< the keys of the jobs that a dry run would take over
    /// each unit that had no cgroup at the expected path when systemd sent its first list of units
    std::set<std::string> withoutCgroup;
    std::size_t pending = 0; ///< the number of answers of systemd that have not come yet
};

// Jobs can start and end while run() looks for orphans. pinfoldd adds a job to the registry before it asks systemd to start the
// job's units. The job stays in the registry until the job's cgroup is gone. While any unit of a job exists, the registry
// contains the job. run() looks up a unit in the registry only *after* systemd has listed the unit. A job can end between
// systemd's first list and the look-up in the registry, so run() asks systemd for a second list. run() treats a unit as an orphan
// only if both lists from systemd contain the unit.
void Reconciler::run(bool dryRun, Reply<Reconciliation> reply) {
    auto run = std::make_shared<Run>(dryRun, std::move(reply));
    core_.context.systemd.listUnits(kPatterns, [this, run](const auto& first) {
        if (const auto* error = std::get_if<SystemdError>(&first))
            return run->reply(Error{ErrorCode::SystemdFailed, "systemd did not list its units: " + error->message});
        const auto& units = std::get<std::vector<UnitStatus>>(first);
        if (auto looked = lookAtRecords(*run, namesOf(units)); !looked)
            return run->reply(looked.error());
        auto doubtful = suspects(*run, units);
        if (doubtful.empty())
            return finish(run);
        core_.context.systemd.listUnits(kPatterns, [this, run, doubtful = std::move(doubtful)](const auto& second) {
            if (const auto* error = std::get_if<SystemdError>(&second))
                return run->reply(Error{ErrorCode::SystemdFailed, "systemd did not list its units: " + error->message});
            act(run, doubtful, std::get<std::vector<UnitStatus>>(second));
        });
    });
}

Result<void> Reconciler::lookAtRecords(Run& run, const std::set<std::string>& loadedUnits) const {
    auto loaded = core_.context.records.load();
    if (!loaded)
        return loaded.error();
    run.found.recordsUnreadable = std::move(loaded->unreadable);
    std::vector<JobRecord> unknown;
    for (auto& record : loaded->records) {
        if (core_.registry.find(record.key.text()))
            continue;
        auto& names = recovery_.lacksUnit(record) ? run.found.recordsEnded : run.found.recordsTakenUp;
        names.push_back(record.key.text());
        run.known.insert(record.key.text());
        unknown.push_back(std::move(record));
    }
    std::vector<JobPtr> lost;
    for (const auto& [key, job] : core_.registry.all())
        if (job->record.state == JobState::Running && recovery_.lacksUnit(job->record))
            lost.push_back(job);
    for (const auto& job : lost) {
        run.found.recordsEnded.push_back(job->key().text());
        if (!run.dryRun)
            ender_.check(job);
    }
    return run.dryRun ? Result<void>() : recovery_.takeUp(std::move(unknown), loadedUnits);
}

bool Reconciler::isOrphan(const Run& run, const std::string& unit) const {
    const auto identity = identifyUnit(unit);
    if (!identity || run.known.contains(identity->key.text()))
        return false;
    const auto job = core_.registry.find(identity->key.text());
    // The units of a job that is starting or ending are not orphans, because other parts of pinfoldd handle these units.
    return !job || (identity->task && job->record.state == JobState::Running && !job->record.tasks.contains(*identity->task));
}

/// Returns the names of the units that seem to be orphans. If systemd has forgotten a unit, but the cgroup of the unit still
/// exists, the result contains the unit.
std::set<std::string> Reconciler::suspects(Run& run, const std::vector<UnitStatus>& units) const {
    std::set<std::string> names;
    for (const auto& unit : units) {
        if (!isOrphan(run, unit.name))
            continue;
        names.insert(unit.name);
        if (!core_.context.cgroups.exists(cgroupOf(*identifyUnit(unit.name))))
            run.withoutCgroup.insert(unit.name);
    }
    for (const auto& child : core_.context.cgroups.children("/" + std::string(kBatchSlice)))
        if (isOrphan(run, child))
            names.insert(child);
    return names;
}

void Reconciler::act(const RunPtr& run, const std::set<std::string>& suspects, const std::vector<UnitStatus>& units) {
    // `slices` contains the slices that seem to be orphans. act() does not handle the scopes in an orphaned slice, because
    // systemd stops these scopes together with the slice.
    std::set<std::string> slices;
    std::set<std::string> loaded;
    for (const auto& unit : units) {
        loaded.insert(unit.name);
        const auto identity = identifyUnit(unit.name);
        if (identity && !identity->task && suspects.contains(unit.name))
            slices.insert(identity->key.text());
    }
    // `pending` begins with 1, so that `pending` cannot reach 0 before act() has sent all calls.
    run->pending = 1;
    for (const auto& unit : units) {
        const auto identity = identifyUnit(unit.name);
        if (!suspects.contains(unit.name) || !isOrphan(*run, unit.name) ||
            (identity->task && slices.contains(identity->key.text())))
            continue;
        if (unit.activeState != "inactive") // if a unit is inactive, systemd is about to forget the unit
            handleUnit(run, unit);
    }
    for (const auto& name : suspects)
        if (!loaded.contains(name) && isOrphan(*run, name))
            handleCgroup(*run, name);
    if (--run->pending == 0)
        finish(run);
}

void Reconciler::handleUnit(const RunPtr& run, const UnitStatus& unit) {
    const auto identity = identifyUnit(unit.name);
    const auto cgroup = cgroupOf(*identity);
    const bool failed = unit.activeState == "failed";
    const bool lacksCgroup = !core_.context.cgroups.exists(cgroup);
    // pinfoldd forgets a task when the task's scope is empty. PID 1 removes the empty scope a moment after pinfoldd has forgotten
    // the task. PID 1 handles no call between the removal of a scope's cgroup and the change of the scope's state. If a scope had
    // a cgroup when systemd sent its first list of units, but has none now, the scope has ended.
    if (lacksCgroup && !failed && !run->withoutCgroup.contains(unit.name))
        return;
    // If a scope exists and has not failed, the scope has processes. If a scope has processes, but no cgroup at the expected
    // path, the processes are in a cgroup with a different path.
    const bool elsewhere = identity->task && !failed && lacksCgroup;
    if (!run->found.recordsUnreadable.empty() || elsewhere || !core_.context.cgroups.isEmpty(cgroup)) {
        run->found.unitsLeft.push_back(unit.name);
        return;
    }
    if (run->dryRun) {
        run->found.unitsStopped.push_back(unit.name);
        return;
    }
    ++run->pending;
    auto done = [this, run, name = unit.name](const SystemdOutcome& outcome) {
        (outcome ? run->found.unitsLeft : run->found.unitsStopped).push_back(name);
        if (--run->pending == 0)
            finish(run);
    };
    if (failed)
        core_.context.systemd.resetFailed(unit.name, std::move(done));
    else
        core_.context.systemd.stop(unit.name, std::move(done));
}

void Reconciler::handleCgroup(Run& run, const std::string& slice) const {
    const auto path = "/" + std::string(kBatchSlice) + "/" + slice;
    if (!core_.context.cgroups.exists(path))
        return; // the job ended after suspects() had found the job's cgroup
    const bool mayGo = run.found.recordsUnreadable.empty() && core_.context.cgroups.isEmpty(path);
    const bool goes = mayGo && (run.dryRun || removeTree(core_.context.cgroups, path));
    (goes ? run.found.cgroupsRemoved : run.found.cgroupsLeft).push_back(path);
}

void Reconciler::finish(const RunPtr& run) const {
    if (!run->dryRun)
        logReconciled(core_.context, run->found);
    run->reply(std::move(run->found));
}

} // namespace pinfold
