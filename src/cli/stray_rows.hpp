// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the output of `pinfold strays` for people and for scripts.
#pragma once

#include "base/clock.hpp"
#include "cli/table.hpp"
#include "strays/sweep.hpp"
#include "wording/amounts.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

struct StrayRow {
    pid_t pid = 0;
    uid_t uid = 0;
    StrayKind kind = StrayKind::Other;
    std::optional<bool> hasJob; ///< true if the user has a live job; unset if pinfold does not know the user's jobs
    Microseconds age{};
    Microseconds cpu{};
    std::uint64_t rss = 0; ///< the resident memory of the process, in bytes
    pid_t parent = 0;
    std::optional<std::string> tty; ///< the terminal of the process, for example "pts/3"
    std::string unit;
    std::string cgroup;
    std::string command;
    std::vector<std::string> actions; ///< "warn", "SIGTERM" or "SIGKILL" for each action; a dry run only plans the actions
    std::optional<std::string> spared;
    std::optional<std::string> failure;
};

struct StrayRun {
    std::string mode;
    bool dryRun = false;
    bool acted = false;               ///< true if `pinfold strays` was allowed to act on the strays
    std::vector<std::string> reasons; ///< the facts that pinfold could not find out; `pinfold strays` acts on strays only if
                                      ///< pinfold found out all facts
    std::vector<std::string> unread;  ///< one reason for each process whose command line pinfold cannot read
    std::vector<StrayRow> rows;
};

StrayRow rowOf(const Stray& stray);
void addAction(StrayRow& row, const StrayAction& action);

std::string strayTable(const std::vector<StrayRow>& rows, const Amounts& amounts, const TableStyle& style);

/// Returns a line such as "sent SIGKILL to 4711 of alice (session, session-3.scope): sleep 1000". For a dry run, the line says
/// what `pinfold strays` would do.
std::string actionLine(const Stray& stray, const StrayAction& action, bool dryRun);

} // namespace pinfold
