// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Lists the orphans, such as units without a record and records without a unit. Each list contains the orphans that pinfoldd has
/// handled in the same way. The list unitsStopped, for example, contains the units that pinfoldd has stopped.
struct Reconciliation {
    std::vector<std::string> unitsStopped; ///< the units without a record and without processes; pinfoldd has stopped them
    std::vector<std::string> unitsLeft;    ///< the units that have no record, but possibly have processes
    /// The cgroups without a unit and without processes. Each text is the path of a cgroup, as /proc/PID/cgroup shows it.
    std::vector<std::string> cgroupsRemoved;
    std::vector<std::string> cgroupsLeft;    ///< the cgroups that have no unit, but possibly have processes
    std::vector<std::string> recordsEnded;   ///< the records of jobs that have no unit any more
    std::vector<std::string> recordsTakenUp; ///< the jobs that have a unit and a record, but were unknown to pinfoldd
    /// Each text names a record that cannot be read, and says why the record cannot be read. Until all records can be read,
    /// pinfoldd changes no unit and no cgroup.
    std::vector<std::string> recordsUnreadable;

    /// Returns true if no orphan is left.
    bool clean() const { return unitsLeft.empty() && cgroupsLeft.empty() && recordsUnreadable.empty(); }

    bool operator==(const Reconciliation&) const = default;
};

/// Calls f(name, list) for each list of orphans in `found`. D-Bus, JSON and the metric of orphans use the names from
/// forEachOrphanKind().
template <class R, class F> void forEachOrphanKind(R&& found, F&& f) {
    f("units_stopped", found.unitsStopped);
    f("units_left", found.unitsLeft);
    f("cgroups_removed", found.cgroupsRemoved);
    f("cgroups_left", found.cgroupsLeft);
    f("records_ended", found.recordsEnded);
    f("records_taken_up", found.recordsTakenUp);
    f("records_unreadable", found.recordsUnreadable);
}

/// Returns one line about an orphan. If pinfoldd has not removed the orphan, the returned line says how to fix the problem.
std::string orphanInWords(std::string_view kind, const std::string& name);

} // namespace pinfold
