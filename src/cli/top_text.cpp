// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/top_text.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"
#include "cli/format.hpp"
#include "cli/table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <sstream>

namespace pinfold {
namespace {

struct TopColumn {
    Column column;
    std::string (*text)(const TopRow& row, const Amounts& amounts);
};

std::string percent(std::optional<double> value) {
    if (!value)
        return "-";
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f", *value);
    return text.data();
}

const std::vector<TopColumn>& allColumns() {
    static const std::vector<TopColumn> columns{
        {{.name = "key", .least = 16}, [](const TopRow& row, const Amounts&) { return printable(row.job.key); }},
        {{.name = "user", .leaves = 1}, [](const TopRow& row, const Amounts&) { return userName(row.job.uid); }},
        {{.name = "state"}, [](const TopRow& row, const Amounts&) { return std::string(toString(row.job.state)); }},
        {{.name = "cpu_percent", .number = true, .heading = "cpu%"},
         [](const TopRow& row, const Amounts&) { return percent(row.cpu); }},
        {{.name = "cpu_percent_of_allowed", .number = true, .leaves = 6, .heading = "used%"},
         [](const TopRow& row, const Amounts&) { return percent(row.cpuOfAllowed); }},
        {{.name = "cpu_time", .number = true, .leaves = 8, .heading = "time"},
         [](const TopRow& row, const Amounts& amounts) { return amounts.duration(row.cpuTime); }},
        {{.name = "memory_in_use", .number = true, .heading = "memory"},
         [](const TopRow& row, const Amounts& amounts) { return amounts.size(row.memory); }},
        {{.name = "memory_need", .number = true, .leaves = 9, .heading = "need"},
         [](const TopRow& row, const Amounts& amounts) { return amounts.size(row.memoryNeed); }},
        {{.name = "memory_max", .number = true, .leaves = 7, .heading = "limit"},
         [](const TopRow& row, const Amounts& amounts) { return amounts.size(row.memoryMax); }},
        {{.name = "page_cache", .number = true, .leaves = 10, .heading = "cache"},
         [](const TopRow& row, const Amounts& amounts) { return amounts.size(row.cache); }},
        {{.name = "io_read_rate", .number = true, .leaves = 3, .heading = "read/s"},
         [](const TopRow& row, const Amounts& amounts) { return amounts.size(row.readRate); }},
        {{.name = "io_write_rate", .number = true, .leaves = 4, .heading = "write/s"},
         [](const TopRow& row, const Amounts& amounts) { return amounts.size(row.writeRate); }},
        {{.name = "tasks_current", .number = true, .leaves = 2, .heading = "threads"},
         [](const TopRow& row, const Amounts&) { return Amounts::number(row.tasks); }},
        {{.name = "age", .number = true, .leaves = 5},
         [](const TopRow& row, const Amounts& amounts) { return amounts.runTime(row.age); }},
    };
    return columns;
}

struct HistoryColumn {
    const char* name;
    std::string TopHistory::*line;
};
// If there is room for only one history, topText() shows the first column of kHistoryColumns.
constexpr std::array kHistoryColumns{HistoryColumn{"mem history", &TopHistory::memory},
                                     HistoryColumn{"cpu history", &TopHistory::cpu}};
constexpr std::size_t kHistoryWidth = kHistoryCells + 2; // the width includes the gap before the column

struct Table {
    std::vector<Column> columns;
    std::vector<std::vector<std::string>> rows;
};

/// Returns how many columns of kHistoryColumns fit beside the whole table.
std::size_t roomForHistories(const Table& table, const TopStyle& style) {
    std::istringstream lines(formatTable(table.columns, table.rows, {.legend = style.legend}));
    std::size_t width = 0;
    for (std::string line; std::getline(lines, line);)
        width = std::max(width, displayWidth(line));
    return std::min(kHistoryColumns.size(), (style.width - std::min(style.width, width)) / kHistoryWidth);
}

void addHistories(Table& table, const std::vector<TopRow>& rows, std::size_t count, const HistoryOf& historyOf) {
    for (std::size_t i = 0; i < count; ++i)
        table.columns.push_back({.name = kHistoryColumns[i].name});
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto history = historyOf(rows[i]);
        for (std::size_t column = 0; column < count; ++column)
            table.rows[i].push_back(history ? *history.*kHistoryColumns[column].line : "-");
    }
}

std::string table(const std::vector<TopRow>& rows, const TopStyle& style, const HistoryOf& historyOf) {
    Table table;
    for (const auto& column : allColumns())
        table.columns.push_back(column.column);
    for (const auto& row : rows) {
        auto& line = table.rows.emplace_back();
        for (const auto& column : allColumns())
            line.push_back(column.text(row, style.amounts));
    }
    if (const auto count = historyOf ? roomForHistories(table, style) : 0; count > 0)
        addHistories(table, rows, count, historyOf);
    return formatTable(table.columns, table.rows, {style.legend, style.width, style.pairs});
}

template <class T> std::optional<T> sum(const std::vector<TopRow>& rows, std::optional<T> TopRow::*member) {
    std::optional<T> total;
    for (const auto& row : rows)
        if (row.*member)
            total = total.value_or(T{}) + *(row.*member);
    return total;
}

std::string sums(const std::vector<TopRow>& rows, RealTime at, const TopStyle& style) {
    std::map<std::string_view, std::size_t> states;
    for (const auto& row : rows)
        ++states[toString(row.job.state)];
    auto text = fmt::format("{}  {}", style.amounts.time(at), counted(rows.size(), "job", "jobs"));
    for (const auto& [state, count] : states)
        text += fmt::format(", {} {}", count, state);
    return fmt::format("{}; CPU {}%, memory {}; by {}\n", text, percent(sum(rows, &TopRow::cpu)),
                       style.amounts.size(sum(rows, &TopRow::memory)), style.sort);
}

} // namespace

std::string topText(const std::vector<TopRow>& rows, RealTime at, const std::optional<Error>& trouble, const TopStyle& style,
                    const HistoryOf& historyOf) {
    if (style.pairs)
        return table(rows, style, {});
    std::string text = style.legend ? sums(rows, at, style) : "";
    if (trouble)
        text += fmt::format("this list is old: {}\n", trouble->message);
    const auto above = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + (style.legend ? 1 : 0);
    const auto room = style.height == 0 ? rows.size() : style.height - std::min(style.height, above);
    const std::vector<TopRow> shown(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(room, rows.size())));
    text += table(shown, style, historyOf);
    return style.height == 0 ? text : cutLines(text, style.width, style.height);
}

} // namespace pinfold
