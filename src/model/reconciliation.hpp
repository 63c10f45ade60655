// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Lists the orphans: units, cgroups and records that did not belong together. Each list is for one kind of orphans and one
/// action of pinfoldd, for example for units that pinfoldd has stopped.
struct Reconciliation {
    std::vector<std::string> unitsStopped;      ///< units without a record and without processes
    std::vector<std::string> unitsLeft;         ///< units without a record that have processes, or may have some
    std::vector<std::string> cgroupsRemoved;    ///< cgroups without a unit and without processes; paths as in /proc/PID/cgroup
    std::vector<std::string> cgroupsLeft;       ///< cgroups without a unit that have processes, or may have some
    std::vector<std::string> recordsEnded;      ///< records of jobs whose unit is gone
    std::vector<std::string> recordsTakenUp;    ///< jobs with a unit and a record that pinfoldd did not know
    std::vector<std::string> recordsUnreadable; ///< file and reason of each; while there is one, pinfoldd touches no unit and no
                                                ///< cgroup

    /// Returns true if no orphan is left.
    bool clean() const { return unitsLeft.empty() && cgroupsLeft.empty() && recordsUnreadable.empty(); }

    bool operator==(const Reconciliation&) const = default;
};

/// Calls f(name, list) for each list. The names are the same as on D-Bus, in JSON and in the metric.
template <class R, class F> void forEachOrphanKind(R&& found, F&& f) {
    f("units_stopped", found.unitsStopped);
    f("units_left", found.unitsLeft);
    f("cgroups_removed", found.cgroupsRemoved);
    f("cgroups_left", found.cgroupsLeft);
    f("records_ended", found.recordsEnded);
    f("records_taken_up", found.recordsTakenUp);
    f("records_unreadable", found.recordsUnreadable);
}

/// Returns one line about an orphan. If pinfoldd has not removed the orphan, the line also says how to fix the problem.
std::string orphanInWords(std::string_view kind, const std::string& name);

} // namespace pinfold
