// SPDX-License-Identifier: LGPL-2.1-or-later
// The functions in this file read the cgroup path of a process, and find out to which units the process belongs. All functions
// are pure.
#pragma once

#include "model/stray_kind.hpp"
#include "os/logins.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Says which slices, and which service or scope of the system manager (PID 1), contain a cgroup. The members of Place are parts
/// of the cgroup's path, so the path must exist as long as the Place.
struct Place {
    std::vector<std::string_view> slices; ///< the slices of the path; the outermost slice comes first
    /// The name of the service or scope that contains the cgroup. If the text is empty, the cgroup is not in a service or scope,
    /// and should not have processes.
    std::string_view unit;
    /// Contains the part of the cgroup's path that comes after the unit. Users, or programs that run in the unit, choose the
    /// names of the cgroups below the unit.
    std::string_view below;
};

/// Returns the slices and the unit that contain the cgroup `cgroup`. `cgroup` has the form of /proc/PID/cgroup.
Place placeOf(std::string_view cgroup);

/// Returns the kind of a process that is in no live job.
StrayKind kindOf(const Place& place, const Logins& logins);

/// If a job's slice contains the cgroup of `place`, the result is the name of this slice. If no job's slice contains the cgroup
/// of `place`, the result is an empty text.
std::string_view jobSliceOf(const Place& place);

/// Returns true if `place` describes the slice pinfold.slice. The supervisors of jobs run in pinfold.slice.
bool isSupervisorsHome(const Place& place);

/// Returns the name of the innermost unit in a cgroup's path, for messages to people. The unit can be a unit of a user's own
/// systemd. If the path is in no unit, the result is the path itself. unitForPeople() calls printable() on the result.
std::string unitForPeople(std::string_view cgroup);

/// Returns true if the cgroup of `place` is in a system unit whose name matches one of the globs. matchesUnit() ignores the names
/// of cgroups below the unit, because users choose these names.
bool matchesUnit(const Place& place, const std::vector<std::string>& globs);

} // namespace pinfold
