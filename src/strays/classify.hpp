// SPDX-License-Identifier: LGPL-2.1-or-later
// What a cgroup path says. Pure.
#pragma once

#include "model/stray_kind.hpp"
#include "os/logins.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Where a cgroup is among the units of the system's manager. Views into the path.
struct Place {
    std::vector<std::string_view> slices; ///< the outermost first
    std::string_view unit;                ///< the service or scope in them; empty: none, so no process belongs there
    std::string_view below;               ///< the rest: named by whoever runs in the unit, which may be the user
};

/// `cgroup` as in /proc/PID/cgroup.
Place placeOf(std::string_view cgroup);

/// Of a process that is in no live job.
StrayKind kindOf(const Place& place, const Logins& logins);

/// The name of the slice, where it is one of a job.
std::string_view jobSliceOf(const Place& place);

/// In the home of supervisors, pinfold.slice.
bool isSupervisorsHome(const Place& place);

/// The innermost unit of a path for people, also of a user's own manager; the path itself where it is in none. printable().
std::string unitForPeople(std::string_view cgroup);

/// Whether one of the system's units around it matches one of the globs. What is below the unit doesn't count: users choose names
/// there.
bool matchesUnit(const Place& place, const std::vector<std::string>& globs);

} // namespace pinfold
