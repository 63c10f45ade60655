// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "config/leftover_files_config.hpp"
#include "model/stray_kind.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pinfold {

enum class StraysMode { Report, Warn, Stop, Kill };

/// [strays]: which processes `pinfold strays` reports as strays, and what the timer of `pinfold strays` does with the strays.
/// Each key of [strays] has the same name as an option of `pinfold strays`.
struct StraysConfig {
    StraysMode mode = StraysMode::Report; ///< mode = "report" | "warn" | "stop" | "kill": what the timer does with strays
    uid_t minUid = 1000;                  ///< min_uid = 1000: the lowest user id of users who can have strays
    uid_t maxUid = kMostUid;              ///< max_uid: the highest user id of users who can have strays
    std::vector<std::string> users; ///< users = ["alice"]: names or ids of the users who can have strays; if empty, all users
    /// exempt_users = ["alice"]: names or ids of the users whose processes are never strays
    std::vector<std::string> exemptUsers;
    /// exempt_groups = ["pinfold-admin"]: processes that run with one of these groups (names or ids) are never strays.
    std::vector<std::string> exemptGroups{"pinfold-admin"};
    /// exempt_units = ["site-*.service", "site.slice"]: processes in units that match a pattern (glob(7)) are never strays.
    std::vector<std::string> exemptUnits;
    /// commands = ["*matlab*"]: only processes whose command line matches a pattern (glob(7)) are strays. If `commands` is empty,
    /// the command line of a stray does not matter.
    std::vector<std::string> commands;
    /// kinds = ["session"]: the kinds of strays on which `pinfold strays` acts. `pinfold strays` lists strays of all kinds.
    StrayKinds kinds{StrayKind::Session,   StrayKind::UserManager, StrayKind::Linger,     StrayKind::Cron, StrayKind::At,
                     StrayKind::Container, StrayKind::Moved,       StrayKind::Supervisor, StrayKind::Other};
    bool withoutJob = false;       ///< without_job: if true, processes of users who have a live job are never strays
    Microseconds minAge = 60s;     ///< min_age = "60s": a stray has run for at least this time
    Microseconds minCpu{};         ///< min_cpu = "0": a stray has used at least this CPU time
    Microseconds grace = 10s;      ///< grace = "10s": the time from SIGTERM to SIGKILL, from 0 to 1 h
    std::uint32_t maxKills = 1000; ///< max_kills = 1000: the maximum number of processes that one run of `pinfold strays` acts on
    LeftoverFilesConfig files = {};

    static constexpr uid_t kMostUid = UINT32_MAX - 1; ///< the kernel treats (uid_t)-1 as "no user"
    static constexpr Microseconds kMostGrace = 1h;
    static constexpr std::uint32_t kMostKills = 1'000'000;

    bool operator==(const StraysConfig&) const = default;
};

} // namespace pinfold
