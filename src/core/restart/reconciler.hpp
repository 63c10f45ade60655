// SPDX-License-Identifier: LGPL-2.1-or-later
// Looks for orphans. An orphan is a unit or a cgroup for which pinfoldd has no record. A record is an orphan if the job of the
// record has no unit. The cause of an orphan is a crash at the wrong moment, a broken disk or a manual change. Reconciler looks
// for orphans at start and on request. If an orphan has processes, Reconciler reports the orphan, but does not change the orphan.
#pragma once

#include "core/core.hpp"
#include "core/end/job_ender.hpp"
#include "core/restart/recovery.hpp"
#include "model/reconciliation.hpp"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace pinfold {

class Reconciler {
public:
    Reconciler(Core& core, Recovery& recovery, JobEnder& ender) : core_(core), recovery_(recovery), ender_(ender) {}

    /// Looks for orphans, and removes the orphans without processes. You can call run() at any time, even while jobs start and
    /// end. If `dryRun` is true, run() changes nothing, and its answer says what run() would change. Errors: Internal;
    /// SystemdFailed.
    void run(bool dryRun, Reply<Reconciliation> reply);

private:
    struct Run;
    using RunPtr = std::shared_ptr<Run>;

    Result<void> lookAtRecords(Run& run, const std::set<std::string>& loadedUnits) const;
    std::set<std::string> suspects(Run& run, const std::vector<UnitStatus>& units) const;
    void act(const RunPtr& run, const std::set<std::string>& suspects, const std::vector<UnitStatus>& units);
    bool isOrphan(const Run& run, const std::string& unit) const;
    void handleUnit(const RunPtr& run, const UnitStatus& unit);
    void handleCgroup(Run& run, const std::string& slice) const;
    void finish(const RunPtr& run) const;

    Core& core_;
    Recovery& recovery_;
    JobEnder& ender_;
};

} // namespace pinfold
