// SPDX-License-Identifier: LGPL-2.1-or-later
// The output of `pinfold strays` for people and for scripts.
#pragma once

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
    std::optional<bool> hasJob; ///< unset: not known
    std::uint64_t age = 0;      ///< microseconds
    std::uint64_t cpu = 0;      ///< microseconds
    std::uint64_t rss = 0;      ///< bytes
    pid_t parent = 0;
    std::optional<std::string> tty; ///< "pts/3"
    std::string unit;
    std::string cgroup;
    std::string command;
    std::vector<std::string> actions; ///< what was done, or would be done: "warn", "SIGTERM", "SIGKILL"
    std::optional<std::string> spared;
    std::optional<std::string> failure;
};

struct StrayRun {
    std::string mode;
    bool dryRun = false;
    bool acted = false;               ///< false also if there was nothing to do, or if `reasons` forbade it
    std::vector<std::string> reasons; ///< what is not known, so that nothing is done
    std::vector<std::string> unread;  ///< why command lines are not known, one line each
    std::vector<StrayRow> rows;
};

StrayRow rowOf(const Stray& stray);
void addAction(StrayRow& row, const StrayAction& action);

std::string strayTable(const std::vector<StrayRow>& rows, const Amounts& amounts, const TableStyle& style);

/// "sent SIGKILL to 4711 of alice (session, session-3.scope): sleep 1000"; for a dry run, what would be done, in the same words.
std::string actionLine(const Stray& stray, const StrayAction& action, bool dryRun);

} // namespace pinfold
