// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Says in what kind of cgroup a stray runs, for example in the cgroup of a login session. A stray is a process of an ordinary
/// user outside of all jobs. The kind of a stray depends on the stray's cgroup.
enum class StrayKind {
    Session,     ///< the process is in a login session
    UserManager, ///< the process is `systemd --user`, or runs below it
    Linger,      ///< the process is `systemd --user` or runs below it, and the user of the process has no session
    Cron,
    At,
    Service,     ///< the process is in a system service, and runs as an ordinary user
    BatchSystem, ///< the process is in the unit of a batch system's daemon, and belongs to a job that pinfold does not know
    Container,
    Moved,      ///< the process is in a cgroup that belongs to no unit, because somebody moved the process there by hand
    Supervisor, ///< the process is a pinfold-run that does not wait for a live job
    Orphan,     ///< the process is in the slice of a job that is not live
    Other,
};

using StrayKinds = std::set<StrayKind>;

/// Returns the name of a kind of stray, such as "session" or "user-manager".
std::string_view toString(StrayKind kind);
std::optional<StrayKind> strayKindFromString(std::string_view text);
/// Returns the names of all kinds of stray, in the order of the enumeration.
std::vector<std::string> strayKindNames();

/// Returns the kind of stray whose name is `text`. Returns nullopt if no kind has the name, or if the kind is Orphan. A node
/// never acts on an orphan, because nobody knows whether the job of the orphan is over.
std::optional<StrayKind> actionableStrayKind(std::string_view text);
std::vector<std::string> actionableStrayKindNames();

} // namespace pinfold
