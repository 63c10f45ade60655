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
        {{.name = "cpu%", .number = true}, [](const TopRow& row, const Amounts&) { return percent(row.cpu); }},
        {{.name = "used%", .number = true, .leaves = 6},
         [](const TopRow& row, const Amounts&) { return percent(row.cpuOfAllowed); }},
        {{.name = "time", .number = true, .leaves = 8},
         [](const TopRow& row, const Amounts& amounts) { return amounts.duration(row.cpuTime); }},
        {{.name = "memory", .number = true}, [](const TopRow& row, const Amounts& amounts) { return amounts.size(row.memory); }},
        {{.name = "limit", .number = true, .leaves = 7},
         [](const TopRow& row, const Amounts& amounts) { return amounts.size(row.memoryMax); }},
        {{.name = "cache", .number = true, .leaves = 10},
         [](const TopRow& row, const Amounts& amounts) { return amounts.size(row.cache); }},
        {{.name = "peak", .number = true, .leaves = 9},
         [](const TopRow& row, const Amounts& amounts) { return amounts.size(row.memoryPeak); }},
        {{.name = "read/s", .number = true, .leaves = 3},
         [](const TopRow& row, const Amounts& amounts) { return amounts.size(row.readRate); }},
        {{.name = "write/s", .number = true, .leaves = 4},
         [](const TopRow& row, const Amounts& amounts) { return amounts.size(row.writeRate); }},
        {{.name = "tasks", .number = true, .leaves = 2},
         [](const TopRow& row, const Amounts&) { return Amounts::number(row.tasks); }},
        {{.name = "age", .number = true, .leaves = 5},
         [](const TopRow& row, const Amounts& amounts) { return amounts.runTime(row.age); }},
    };
    return columns;
}

std::string table(const std::vector<TopRow>& rows, const TopStyle& style) {
    const auto& columns = allColumns();
    std::vector<Column> header;
    for (const auto& column : columns)
        header.push_back(column.column);
    std::vector<std::vector<std::string>> fields;
    for (const auto& row : rows) {
        auto& line = fields.emplace_back();
        for (const auto& column : columns)
            line.push_back(column.text(row, style.amounts));
    }
    return formatTable(header, fields, {style.legend, style.width, style.pairs});
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

std::string topText(const std::vector<TopRow>& rows, RealTime at, const std::optional<Error>& trouble, const TopStyle& style) {
    if (style.pairs)
        return table(rows, style);
    std::string text = style.legend ? sums(rows, at, style) : "";
    if (trouble)
        text += fmt::format("this list is old: {}\n", trouble->message);
    const auto above = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + (style.legend ? 1 : 0);
    const auto room = style.height == 0 ? rows.size() : style.height - std::min(style.height, above);
    const std::vector<TopRow> shown(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(room, rows.size())));
    text += table(shown, style);
    return style.height == 0 ? text : cutLines(text, style.width, style.height);
}

} // namespace pinfold
