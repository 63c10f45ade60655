// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/list_table.hpp"

#include "base/escape.hpp"
#include "cli/format.hpp"
#include "options/words.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

std::vector<ListColumn> allColumns(const Amounts& amounts, const TableStyle& style) {
    const auto byText = [](auto member) {
        return [member](const JobInfo& a, const JobInfo& b) { return a.*member < b.*member; };
    };
    const auto age = [amounts, now = style.now](const JobInfo& job) { return amounts.duration(timeBetween(job.created, now)); };
    return {
        {{.name = "key", .least = 24}, [](const JobInfo& job) { return printable(job.key); }, byText(&JobInfo::key)},
        {{.name = "user", .least = 8}, [](const JobInfo& job) { return userName(job.uid); }, byText(&JobInfo::uid)},
        {{.name = "state"},
         [](const JobInfo& job) { return std::string(toString(job.state)); },
         [](const JobInfo& a, const JobInfo& b) { return toString(a.state) < toString(b.state); }},
        {{.name = "tasks", .number = true},
         [](const JobInfo& job) { return std::to_string(job.tasks); },
         byText(&JobInfo::tasks)},
        {{.name = "age", .number = true}, age, [](const JobInfo& a, const JobInfo& b) { return a.created > b.created; }},
        {{.name = "leader", .number = true, .leaves = 1},
         [](const JobInfo& job) { return job.leader ? std::to_string(*job.leader) : "-"; },
         byText(&JobInfo::leader)},
        {{.name = "uid", .number = true}, [](const JobInfo& job) { return std::to_string(job.uid); }, byText(&JobInfo::uid)},
        {{.name = "created"}, [style](const JobInfo& job) { return tableTime(job.created, style); }, byText(&JobInfo::created)},
        {{.name = "slice", .least = 15}, [](const JobInfo& job) { return job.slice; }, byText(&JobInfo::slice)},
        {{.name = "unit", .least = 15}, [](const JobInfo& job) { return job.unit; }, byText(&JobInfo::unit)},
    };
}

Result<ListColumn> columnNamed(const std::vector<ListColumn>& columns, const std::string& name) {
    std::vector<std::string> names;
    for (const auto& column : columns) {
        if (column.column.name == name)
            return column;
        names.push_back(column.column.name);
    }
    std::string all;
    for (const auto& known : names)
        all += (all.empty() ? "" : ", ") + known;
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("unknown column '{}'{}; use {}", printable(name, 100), suggestion(name, names), all)};
}

} // namespace

Result<std::vector<ListColumn>> listColumns(std::vector<std::string> names, const Amounts& amounts, const TableStyle& style) {
    if (names.empty())
        names = {"key", "user", "state", "tasks", "age", "leader", "unit"};
    const auto known = allColumns(amounts, style);
    std::vector<ListColumn> columns;
    for (const auto& name : names) {
        auto column = columnNamed(known, name);
        if (!column)
            return column.error();
        columns.push_back(std::move(*column));
    }
    return columns;
}

std::vector<std::string> listColumnNames() {
    std::vector<std::string> names;
    for (const auto& column : allColumns({}, {}))
        names.push_back(column.column.name);
    return names;
}

std::string listTable(const std::vector<ListColumn>& columns, const std::vector<JobInfo>& jobs, const TableStyle& style) {
    std::vector<Column> header;
    for (const auto& column : columns)
        header.push_back(column.column);
    std::vector<std::vector<std::string>> rows;
    for (const auto& job : jobs) {
        auto& row = rows.emplace_back();
        for (const auto& column : columns)
            row.push_back(column.text(job));
    }
    return formatTable(header, rows, style);
}

} // namespace pinfold
