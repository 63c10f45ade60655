// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/limit_text.hpp"

#include "base/parse.hpp"
#include "model/limit_table.hpp"

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
        return amounts.duration(limit);
    else if (row.form == LimitForm::Quota)
        return amounts.quota(limit);
    else
        return row.form == LimitForm::Signal ? signalName(static_cast<int>(*limit)) : Amounts::number(limit);
}

std::map<std::string, std::string> textsOf(const ResourceLimits& limits, const Amounts& amounts) {
    std::map<std::string, std::string> texts;
    forEachLimit(limits, [&](const char* name, const auto& limit) { texts[name] = text(limitRow(name), limit, amounts); });
    return texts;
}

/// Calls f(name) for each limit that is set.
template <class F> void forEachSet(const ResourceLimits& limits, F&& f) {
    forEachLimit(limits, [&f](const char* name, const auto& limit) {
        if (limit)
            f(std::string(name));
    });
}

bool isOneOf(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string reasonOf(const LimitRow& row) {
    return "the kernel did not accept the value; `pinfold doctor` says whether the cgroup controller " +
           std::string(row.controller ? row.controller : "that it needs") + " is missing";
}

} // namespace

std::string limitsTable(const ResourceLimits& limits, const std::vector<std::string>& notEnforced, const Amounts& amounts,
                        const TableStyle& style) {
    // A value may be cut, but the mark that the limit is not enforced must not be.
    std::vector<Column> columns{{.name = "limit"}, {.name = "value", .least = 16}, {.name = "property"}};
    if (!notEnforced.empty())
        columns.insert(columns.begin() + 2, {.name = "note"});
    std::vector<std::vector<std::string>> rows;
    forEachLimit(limits, [&](const char* name, const auto& limit) {
        const auto& row = limitRow(name);
        auto& cells = rows.emplace_back();
        cells = {name, text(row, limit, amounts), row.property ? row.property : "-"};
        if (!notEnforced.empty())
            cells.insert(cells.begin() + 2, isOneOf(notEnforced, name) ? "(not enforced)" : "");
    });
    return formatTable(columns, rows, style);
}

std::string changeLines(const ResourceLimits& change, const ResourceLimits& before, const ResourceLimits& after,
                        const Amounts& amounts) {
    auto old = textsOf(before, amounts);
    auto now = textsOf(after, amounts);
    std::string lines;
    forEachSet(change, [&](const std::string& name) {
        lines.append(name).append(": ").append(old[name]).append(" -> ").append(now[name]).append("\n");
    });
    return lines;
}

std::string enforcementWarnings(const ResourceLimits& change, const ResourceLimits& after,
                                const std::vector<std::string>& notEnforced) {
    auto now = textsOf(after, Amounts{});
    std::string lines;
    forEachSet(change, [&](const std::string& name) {
        const bool leftOut = now[name] == "-";
        if (leftOut || isOneOf(notEnforced, name))
            lines.append("pinfold: warning: ")
                .append(name)
                .append(" is not enforced on this node: ")
                .append(leftOut ? "its systemd is too old" : reasonOf(limitRow(name)))
                .append("\n");
    });
    return lines;
}

} // namespace pinfold
