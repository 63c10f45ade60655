// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/stray_rows.hpp"

#include "base/escape.hpp"
#include "cli/format.hpp"
#include "os/user_terminal.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

struct Wording {
    const char* done;
    const char* planned;
    const char* action; ///< the word for the action in output for scripts
};

Wording wordingOf(StrayAction::Kind kind) {
    switch (kind) {
    case StrayAction::Kind::Report:
        return {"found", "found", ""};
    case StrayAction::Kind::Warning:
        return {"warned", "would warn", "warning"};
    case StrayAction::Kind::Terminate:
        return {"sent SIGTERM to", "would send SIGTERM to", "SIGTERM"};
    case StrayAction::Kind::Kill:
        return {"sent SIGKILL to", "would send SIGKILL to", "SIGKILL"};
    case StrayAction::Kind::Spare:
        return {"spared", "would spare", ""};
    case StrayAction::Kind::Failure:
        return {"failed with", "would fail with", ""};
    }
    return {"", "", ""};
}

std::string yesOrNo(std::optional<bool> value) { return !value ? "-" : *value ? "yes" : "no"; }

} // namespace

StrayRow rowOf(const Stray& stray) {
    const auto& info = stray.process.info;
    StrayRow row;
    row.pid = info.pid;
    row.uid = info.realUid;
    row.kind = stray.kind;
    row.hasJob = stray.hasJob;
    row.age = stray.age;
    row.cpu = info.cpu;
    row.rss = info.rss;
    row.parent = info.parent;
    if (auto tty = terminalName(info.terminal); !tty.empty())
        row.tty = std::move(tty);
    row.unit = stray.unit;
    row.cgroup = printable(stray.process.cgroup);
    row.command = info.command;
    return row;
}

void addAction(StrayRow& row, const StrayAction& action) {
    if (action.kind == StrayAction::Kind::Spare)
        row.spared = action.why;
    else if (action.kind == StrayAction::Kind::Failure)
        row.failure = action.why;
    else if (action.kind != StrayAction::Kind::Report)
        row.actions.emplace_back(wordingOf(action.kind).action);
}

std::string strayTable(const std::vector<StrayRow>& rows, const Amounts& amounts, const TableStyle& style) {
    const std::vector<Column> columns{{.name = "pid", .number = true},
                                      {.name = "user", .least = 8},
                                      {.name = "uid", .number = true, .leaves = 6},
                                      {.name = "kind"},
                                      {.name = "has_job", .heading = "job"},
                                      {.name = "age", .number = true, .leaves = 1},
                                      {.name = "cpu", .number = true, .leaves = 2},
                                      {.name = "rss", .number = true, .leaves = 3, .heading = "memory"},
                                      {.name = "parent", .number = true, .leaves = 5},
                                      {.name = "tty", .leaves = 4},
                                      {.name = "unit", .least = 12},
                                      {.name = "command", .least = 12}};
    std::vector<std::vector<std::string>> cells;
    cells.reserve(rows.size());
    for (const auto& row : rows)
        cells.push_back({std::to_string(row.pid), userName(row.uid), std::to_string(row.uid), std::string(toString(row.kind)),
                         yesOrNo(row.hasJob), amounts.duration(row.age), amounts.duration(row.cpu), amounts.size(row.rss),
                         std::to_string(row.parent), row.tty.value_or("-"), row.unit, row.command});
    return formatTable(columns, cells, style);
}

std::string actionLine(const Stray& stray, const StrayAction& action, bool dryRun) {
    const auto wording = wordingOf(action.kind);
    const auto& info = stray.process.info;
    return fmt::format("{} {} of {} ({}, {}){}: {}\n", dryRun ? wording.planned : wording.done, info.pid, userName(info.realUid),
                       toString(stray.kind), stray.unit, action.why.empty() ? "" : ", because " + action.why, info.command);
}

} // namespace pinfold
