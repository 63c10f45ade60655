// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/top_text.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"
#include "cli/format.hpp"
#include "cli/table.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <string_view>

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
        {{"key"}, [](const TopRow& row, const Amounts&) { return printable(row.job.key); }},
        {{"user"}, [](const TopRow& row, const Amounts&) { return userName(row.job.uid); }},
        {{"state"}, [](const TopRow& row, const Amounts&) { return row.job.state; }},
        {{"cpu%", true}, [](const TopRow& row, const Amounts&) { return percent(row.cpu); }},
        {{"used%", true}, [](const TopRow& row, const Amounts&) { return percent(row.cpuOfAllowed); }},
        {{"time", true}, [](const TopRow& row, const Amounts& amounts) { return amounts.duration(row.cpuTime); }},
        {{"memory", true}, [](const TopRow& row, const Amounts& amounts) { return amounts.size(row.memory); }},
        {{"limit", true}, [](const TopRow& row, const Amounts& amounts) { return amounts.size(row.memoryMax); }},
        {{"peak", true}, [](const TopRow& row, const Amounts& amounts) { return amounts.size(row.memoryPeak); }},
        {{"read/s", true}, [](const TopRow& row, const Amounts& amounts) { return amounts.size(row.readRate); }},
        {{"write/s", true}, [](const TopRow& row, const Amounts& amounts) { return amounts.size(row.writeRate); }},
        {{"tasks", true}, [](const TopRow& row, const Amounts&) { return Amounts::number(row.tasks); }},
        {{"age", true}, [](const TopRow& row, const Amounts& amounts) { return amounts.duration(row.age); }},
    };
    return columns;
}

/// The least important first; the others stay.
constexpr std::array<std::string_view, 9> kMayGo{"peak", "time", "limit", "used%", "age", "write/s", "read/s", "tasks", "user"};

std::string table(const std::vector<TopRow>& rows, const std::vector<TopColumn>& columns, const TopStyle& style) {
    std::vector<Column> header;
    for (const auto& column : columns)
        header.push_back(column.column);
    std::vector<std::vector<std::string>> fields;
    for (const auto& row : rows) {
        auto& line = fields.emplace_back();
        for (const auto& column : columns)
            line.push_back(column.text(row, style.amounts));
    }
    return formatTable(header, fields, {style.legend, 0, false});
}

/// Every line of it is equally long, since the last column is a number.
bool fits(const std::string& table, std::size_t width) {
    return width == 0 || displayWidth(table.substr(0, table.find('\n'))) <= width;
}

std::string fittingTable(const std::vector<TopRow>& rows, const TopStyle& style) {
    auto columns = allColumns();
    auto text = table(rows, columns, style);
    for (auto name = kMayGo.begin(); name != kMayGo.end() && !fits(text, style.width); ++name) {
        std::erase_if(columns, [name](const TopColumn& column) { return column.column.name == *name; });
        text = table(rows, columns, style);
    }
    return text;
}

template <class T> std::optional<T> sum(const std::vector<TopRow>& rows, std::optional<T> TopRow::*member) {
    std::optional<T> total;
    for (const auto& row : rows)
        if (row.*member)
            total = total.value_or(T{}) + *(row.*member);
    return total;
}

std::string sums(const std::vector<TopRow>& rows, std::uint64_t at, const TopStyle& style) {
    std::map<std::string, std::size_t> states;
    for (const auto& row : rows)
        ++states[row.job.state];
    auto text = formatUtc(at) + "  " + std::to_string(rows.size()) + " job(s)";
    for (const auto& [state, count] : states)
        text += ", " + std::to_string(count) + " " + state;
    text += "; CPU " + percent(sum(rows, &TopRow::cpu)) + "%, memory " + style.amounts.size(sum(rows, &TopRow::memory));
    return text + "; by " + style.sort + "\n";
}

std::string cutToScreen(const std::string& text, const TopStyle& style) {
    std::string out;
    std::size_t start = 0;
    for (std::size_t line = 0; line < style.height && start < text.size(); ++line) {
        const auto end = text.find('\n', start);
        out += cutToWidth(text.substr(start, end - start), style.width) + "\n";
        start = end + 1;
    }
    return out;
}

} // namespace

std::string topText(const std::vector<TopRow>& rows, std::uint64_t at, const std::optional<Error>& trouble,
                    const TopStyle& style) {
    std::string text = style.legend ? sums(rows, at, style) : "";
    if (trouble)
        text += "an old list: " + trouble->message + "\n";
    const auto above = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + (style.legend ? 1 : 0);
    const auto room = style.height == 0 ? rows.size() : style.height - std::min(style.height, above);
    const std::vector<TopRow> shown(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(room, rows.size())));
    text += fittingTable(shown, style);
    return style.height == 0 ? text : cutToScreen(text, style);
}

} // namespace pinfold
