// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/limit_text.hpp"

#include "base/parse.hpp"
#include "model/limit_table.hpp"
#include "model/set_limit.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace pinfold {
namespace {

template <class T> std::string text(const LimitRow& row, const std::optional<T>& limit, const Amounts& amounts) {
    if (!limit)
        return "-";
    if constexpr (!kIsNumber<std::optional<T>>)
        return limitText(*limit);
    else if (row.form == LimitForm::Size)
        return amounts.size(limit);
    else if (row.form == LimitForm::Duration)
        return amounts.runTime(timeLimit(limit));
    else if (row.form == LimitForm::Quota)
        return amounts.quota(limit);
    else
        return row.form == LimitForm::Signal ? signalName(static_cast<int>(*limit)) : Amounts::number(limit);
}

std::map<std::string, std::string> textsOf(const ResourceLimits& limits, const Amounts& amounts) {
    std::map<std::string, std::string> texts;
    forEachLimit(limits, [&](const LimitRow& row, const auto& limit) { texts[row.name] = text(row, limit, amounts); });
    return texts;
}

/// Calls f(row) for each limit that has a value.
template <class F> void forEachSet(const ResourceLimits& limits, F&& f) {
    forEachLimit(limits, [&f](const LimitRow& row, const auto& limit) {
        if (limit)
            f(row);
    });
}

bool isOneOf(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string reasonOf(const LimitRow& row) {
    return fmt::format("the kernel did not accept the value; `pinfold doctor` says whether the cgroup controller {} is missing",
                       row.controller ? row.controller : "that it needs");
}

} // namespace

std::string limitValue(const ResourceLimits& limits, const LimitRow& row, const Amounts& amounts) {
    return std::visit([&](auto member) { return text(row, limits.*member, amounts); }, row.member);
}

std::string limitsTable(const ResourceLimits& limits, const Enforcement& enforcement, const Amounts& amounts,
                        const TableStyle& style) {
    // The column "note" is separate, because formatTable() is allowed to cut a limit's value, but must not cut a note.
    std::vector<Column> columns{{.name = "limit"}, {.name = "value", .least = 16}, {.name = "note"}, {.name = "property"}};
    bool noted = false;
    std::vector<std::vector<std::string>> rows;
    forEachLimit(limits, [&](const LimitRow& row, const auto& limit) {
        auto value = text(row, limit, amounts);
        std::string note = isOneOf(enforcement.notEnforced, row.name) ? "(not enforced)" : "";
        if (row.name == std::string_view("tasks_max") && enforcement.systemdTasksMax) {
            value = Amounts::number(enforcement.systemdTasksMax);
            note = "(per task, from systemd)";
        }
        noted |= !note.empty();
        rows.push_back({row.name, std::move(value), std::move(note), row.property ? row.property : "-"});
    });
    if (!noted) {
        columns.erase(columns.begin() + 2);
        for (auto& cells : rows)
            cells.erase(cells.begin() + 2);
    }
    return formatTable(columns, rows, style);
}

std::string changeLines(const ResourceLimits& change, const ResourceLimits& before, const ResourceLimits& after,
                        const Amounts& amounts) {
    auto old = textsOf(before, amounts);
    auto now = textsOf(after, amounts);
    std::string lines;
    forEachSet(change, [&](const LimitRow& row) {
        lines.append(row.name).append(": ").append(old[row.name]).append(" -> ").append(now[row.name]).append("\n");
    });
    return lines;
}

std::string enforcementWarnings(const ResourceLimits& change, const ResourceLimits& after,
                                const std::vector<std::string>& notEnforced) {
    auto now = textsOf(after, Amounts{});
    std::string lines;
    forEachSet(change, [&](const LimitRow& row) {
        const bool leftOut = now[row.name] == "-";
        if (leftOut || isOneOf(notEnforced, row.name))
            lines.append("pinfold: warning: ")
                .append(row.name)
                .append(" is not enforced on this node: ")
                .append(leftOut ? "its systemd is too old" : reasonOf(row))
                .append("\n");
    });
    return lines;
}

} // namespace pinfold
