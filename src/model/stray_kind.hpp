// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Says where a stray comes from, for example from a login session. A stray is a process of an ordinary user outside of all
/// jobs. The kind of a stray depends on its cgroup.
enum class StrayKind {
    Session,     ///< a login session
    UserManager, ///< `systemd --user` and all processes that it runs
    Linger,      ///< `systemd --user` and all processes that it runs, for a user who has no session
    Cron,
    At,
    Service,     ///< a system service that runs as an ordinary user
    BatchSystem, ///< below a batch system's own daemon: the process is part of a job that pinfold does not have
    Container,
    Moved,      ///< in a cgroup that belongs to no unit, because somebody moved the process there by hand
    Supervisor, ///< a pinfold-run that does not wait for a live job
    Orphan,     ///< in the slice of a job that is not live
    Other,
};

using StrayKinds = std::set<StrayKind>;

/// Returns the name of a kind: "session", "user-manager", ...
std::string_view toString(StrayKind kind);
std::optional<StrayKind> strayKindFromString(std::string_view text);
/// Returns the names of all kinds, in the order of the enumeration.
std::vector<std::string> strayKindNames();

} // namespace pinfold
