// SPDX-License-Identifier: LGPL-2.1-or-later
// What a cgroup path tells about a process. Pure.
#pragma once

#include "model/stray_kind.hpp"
#include "os/logins.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// The place of a cgroup among the units of the system's manager. The members are views into the path.
struct Place {
    std::vector<std::string_view> slices; ///< the outermost first
    std::string_view unit;  ///< the service or scope in the slices; empty: there is none, so no process belongs there
    std::string_view below; ///< the rest of the path; its names are chosen by what runs in the unit, possibly by the user
};

/// `cgroup`: as in /proc/PID/cgroup.
Place placeOf(std::string_view cgroup);

/// The kind of a process that is in no live job.
StrayKind kindOf(const Place& place, const Logins& logins);

/// The name of the job's slice in which the place is; empty if it is not in a job's slice.
std::string_view jobSliceOf(const Place& place);

/// True: the place is pinfold.slice, the home of supervisors.
bool isSupervisorsHome(const Place& place);

/// The name of the innermost unit of a cgroup's path, for people. Units of a user's own systemd count, too. If the path is in no
/// unit, this is the path itself. The text is printable().
std::string unitForPeople(std::string_view cgroup);

/// True: one of the system's units around the place matches one of the globs. Names below the unit do not count, because users
/// choose them.
bool matchesUnit(const Place& place, const std::vector<std::string>& globs);

} // namespace pinfold
