// SPDX-License-Identifier: LGPL-2.1-or-later
// Looks for orphans: units and cgroups of jobs without a record, and records without a unit. Orphans come from a crash at the
// wrong moment, a broken disk or a manual change. Reconciler looks for orphans at start and on request. Reconciler only names
// orphans that have processes, and never touches them.
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

    /// Looks for orphans. run() is safe at any time, while jobs come and go. With `dryRun`, the answer says what run() would do,
    /// and nothing else happens. Errors: Internal; SystemdFailed.
    void run(bool dryRun, Reply<Reconciliation> reply);

private:
    struct Run;
    using RunPtr = std::shared_ptr<Run>;

    Result<void> lookAtRecords(Run& run, const std::set<std::string>& loadedUnits) const;
    std::set<std::string> suspects(const Run& run, const std::vector<UnitStatus>& units) const;
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
