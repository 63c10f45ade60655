// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// What a process of an ordinary user belongs to, if not to a job. Its cgroup decides.
enum class StrayKind {
    Session,     ///< a login session
    UserManager, ///< `systemd --user` and all that it runs
    Linger,      ///< `systemd --user` and all that it runs, of a user who has no session
    Cron,
    At,
    Service,     ///< a system service that runs as an ordinary user
    BatchSystem, ///< below a batch system's own daemon: part of a job that pinfold does not have
    Container,
    Moved,      ///< in a cgroup that belongs to no unit: somebody moved it there by hand
    Supervisor, ///< a pinfold-run that does not wait for a live job
    Orphan,     ///< in the slice of a job that is not live
    Other,
};

using StrayKinds = std::set<StrayKind>;

/// "session", "user-manager", ...
std::string_view toString(StrayKind kind);
std::optional<StrayKind> strayKindFromString(std::string_view text);
/// The names of all kinds, in the order of the enumeration.
std::vector<std::string> strayKindNames();

} // namespace pinfold
