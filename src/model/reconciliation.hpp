// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// What of units, cgroups and records did not belong together, by name, and what came of it.
struct Reconciliation {
    std::vector<std::string> unitsStopped;      ///< no record, and nothing in them
    std::vector<std::string> unitsLeft;         ///< no record, but processes, or it can't be known
    std::vector<std::string> cgroupsRemoved;    ///< paths as in /proc/PID/cgroup: no unit, and nothing in them
    std::vector<std::string> cgroupsLeft;       ///< no unit, but processes, or it can't be known
    std::vector<std::string> recordsEnded;      ///< jobs whose unit is gone
    std::vector<std::string> recordsTakenUp;    ///< jobs with a unit and a record that pinfoldd did not know
    std::vector<std::string> recordsUnreadable; ///< file and reason. Not empty: no unit and no cgroup is touched.

    /// All that is left is as it should be.
    bool clean() const { return unitsLeft.empty() && cgroupsLeft.empty() && recordsUnreadable.empty(); }

    bool operator==(const Reconciliation&) const = default;
};

/// Calls f(name, list) for each; the names are those on D-Bus, in JSON and of the metric.
template <class R, class F> void forEachOrphanKind(R&& found, F&& f) {
    f("units_stopped", found.unitsStopped);
    f("units_left", found.unitsLeft);
    f("cgroups_removed", found.cgroupsRemoved);
    f("cgroups_left", found.cgroupsLeft);
    f("records_ended", found.recordsEnded);
    f("records_taken_up", found.recordsTakenUp);
    f("records_unreadable", found.recordsUnreadable);
}

/// One line about one of them, with the remedy where something was left alone.
std::string orphanInWords(std::string_view kind, const std::string& name);

} // namespace pinfold
