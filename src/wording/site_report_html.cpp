// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wording/site_report_html.hpp"

#include "base/parse.hpp"
#include "wording/amounts.hpp"
#include "wording/html.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace pinfold {
namespace {

/// Describes how the page shows a table. Each of `shared`, `part` and `whole` names a column, or is empty. If the name of a
/// column is empty, the page leaves out the figure that needs the column.
struct Section {
    std::string_view table;
    const char* title;
    const char* text;             ///< a text that says what the figures mean
    std::string_view shared = {}; ///< in each row, a bar shows the row's value in this column as a share of the column's total
    const char* ratio = "";       ///< the heading of the column that shows `part` divided by `whole`
    std::string_view part = {};
    std::string_view whole = {};
};

constexpr const char* kCpuText = "The CPU time asked for is the number of CPUs multiplied by the run time, on all hosts of a "
                                 "job. The columns \"CPU used\" and \"CPU efficiency\" count only jobs that asked for a number "
                                 "of CPUs. The CPU time of all other jobs is in the column \"CPU used without request\".";
constexpr const char* kMemoryText =
    "The memory asked for and the memory needed are multiplied by the run time on all hosts of a job: 8G for two hours are "
    "16G·h. The memory needed does not include the page cache. Jobs without a limit are not compared. Jobs whose need is not "
    "known are not compared either: pinfoldd does not know the need of a job that ran for less than a second.";

constexpr std::array kSections{
    Section{.table = "end_causes", .title = "How the jobs ended", .text = "A job on many hosts counts once.", .shared = "jobs"},
    Section{.table = "unused_cpu",
            .title = "Most CPU time asked for and not used",
            .text = "The bar is the user's share of all unused CPU time.",
            .shared = "cpu_unused_us",
            .ratio = "unused",
            .part = "cpu_unused_us",
            .whole = "cpu_asked_us"},
    Section{.table = "cpu_by_user",
            .title = "CPU time by user",
            .text = kCpuText,
            .shared = "cpu_used_us",
            .ratio = "CPU efficiency",
            .part = "cpu_used_us",
            .whole = "cpu_asked_us"},
    Section{.table = "cpu_by_account",
            .title = "CPU time by account",
            .text = kCpuText,
            .shared = "cpu_used_us",
            .ratio = "CPU efficiency",
            .part = "cpu_used_us",
            .whole = "cpu_asked_us"},
    Section{.table = "memory_by_user",
            .title = "Memory by user",
            .text = kMemoryText,
            .shared = "memory_asked_byte_hours",
            .ratio = "needed",
            .part = "memory_needed_byte_hours",
            .whole = "memory_asked_byte_hours"},
    Section{.table = "memory_by_account",
            .title = "Memory by account",
            .text = kMemoryText,
            .shared = "memory_asked_byte_hours",
            .ratio = "needed",
            .part = "memory_needed_byte_hours",
            .whole = "memory_asked_byte_hours"},
    Section{.table = "queues",
            .title = "Busiest queues",
            .text = "The run time is the sum over all hosts of a job.",
            .shared = "run_time_us",
            .ratio = "CPU efficiency",
            .part = "cpu_used_us",
            .whole = "cpu_asked_us"},
    Section{.table = "leftovers_by_user",
            .title = "Users whose jobs left processes behind",
            .text = "pinfold ended these processes after the job.",
            .shared = "leftovers"},
    Section{.table = "leftover_jobs",
            .title = "Jobs that left processes behind",
            .text = "The processes with the most CPU time come first."},
    Section{
        .table = "unkillable_by_node",
        .title = "Nodes with unkillable processes",
        .text =
            "The table counts jobs with processes that SIGKILL did not end in time. A process that SIGKILL does not end usually "
            "waits for a disk or a file server that does not answer. A job on many hosts counts on each host with such "
            "processes. The column \"most processes\" has the highest number for one job."},
    Section{
        .table = "lost_jobs_by_node",
        .title = "Nodes that lost jobs",
        .text =
            "The node went down without a shutdown (node lost), the job's units disappeared (lost), or pinfold-run was killed "
            "(supervisor lost)."},
    Section{.table = "incomplete_nodes",
            .title = "Nodes whose receipts are not complete",
            .text = "The archive had all receipts of the node at the time \"complete\". The node was last heard of at the time "
                    "\"seen\"."},
    Section{.table = "gaps",
            .title = "Receipts that will never be in the archive",
            .text = "The node had removed these receipts before they were sent."},
};

constexpr std::size_t kMostRows = 1000; // no query of the report returns more rows than kMostRows
/// Returns the value of a cell. Returns nullptr if the table does not have the cell, or if the cell is NULL.
const std::string* valueAt(const ReportTable& table, std::size_t row, std::size_t column) {
    const auto& values = table.rows[row];
    return column < values.size() && values[column] ? &*values[column] : nullptr;
}

std::optional<std::size_t> columnOf(const ReportTable& table, std::string_view name) {
    const auto found = std::ranges::find(table.columns, name);
    return found == table.columns.end() ? std::nullopt : std::optional<std::size_t>(found - table.columns.begin());
}

std::optional<double> numberIn(const std::string* text) {
    double value = 0;
    if (!text || std::from_chars(text->data(), text->data() + text->size(), value).ptr != text->data() + text->size())
        return std::nullopt;
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<double> numberAt(const ReportTable& table, std::size_t row, std::string_view column) {
    const auto at = columnOf(table, column);
    return at && row < table.rows.size() ? numberIn(valueAt(table, row, *at)) : std::nullopt;
}

/// Returns the name of the column that contains the totals of the given column. The query computes each total from all rows,
/// because LIMIT can cut off some rows of the answer. Every row of the answer repeats the total.
std::string nameOfAll(std::string_view column) { return "all_" + std::string(column); }

bool isOfAll(std::string_view column) { return column.starts_with("all_"); }

constexpr std::string_view kRowsColumn = "rows"; // the column all_rows says how many rows the query would return without LIMIT

std::optional<double> ofAll(const ReportTable& table, std::string_view column) { return numberAt(table, 0, nameOfAll(column)); }

/// Returns the positions of the columns that the page shows. The page does not show columns of totals (isOfAll()).
std::vector<std::size_t> shownColumns(const ReportTable& table) {
    std::vector<std::size_t> shown;
    for (std::size_t column = 0; column < table.columns.size(); ++column)
        if (!isOfAll(table.columns[column]))
            shown.push_back(column);
    return shown;
}

const ReportTable* find(const std::vector<ReportTable>& tables, std::string_view name) {
    const auto found = std::ranges::find(tables, name, &ReportTable::name);
    return found == tables.end() ? nullptr : &*found;
}

bool isTime(std::string_view column) { return column.ends_with("_us"); }
bool isMemory(std::string_view column) { return column.ends_with("_byte_hours"); }

/// Returns true if the values of a column are amounts. The name of a column with counts does not end with a unit, so isAmount()
/// has a list of these names.
bool isAmount(std::string_view column) {
    constexpr std::array<std::string_view, 10> counts{"jobs",
                                                      "hosts",
                                                      "jobs_without_limit",
                                                      "jobs_with_unknown_need",
                                                      "leftovers",
                                                      "most_processes",
                                                      "node_lost",
                                                      "lost",
                                                      "supervisor_lost",
                                                      "receipts"};
    return isTime(column) || isMemory(column) || std::ranges::find(counts, column) != counts.end();
}

/// Returns "CPU used" for cpu_used_us.
std::string heading(std::string name) {
    for (const std::string_view unit : {"_us", "_byte_hours"})
        if (name.ends_with(unit))
            name.resize(name.size() - unit.size());
    std::ranges::replace(name, '_', ' ');
    if (const auto at = name.find("cpu"); at != std::string::npos)
        name.replace(at, 3, "CPU");
    return name;
}

/// Rounds the value to a whole number from 0 to 2^63. The number that means "infinity" is above 2^63.
std::uint64_t whole(double value) {
    return value < 0 ? 0 : value >= 0x1p63 ? std::uint64_t{1} << 63 : static_cast<std::uint64_t>(std::llround(value));
}

std::string amountText(std::string_view column, double value) {
    if (isTime(column))
        return kLocalAmounts.duration(fromUsec<Microseconds>(whole(value)));
    if (isMemory(column))
        return kLocalAmounts.size(whole(value)) + "·h";
    return std::to_string(whole(value));
}

std::string valueText(const ReportTable& table, std::size_t row, std::size_t column) {
    const auto* value = valueAt(table, row, column);
    const auto& name = table.columns[column];
    if (!value)
        return name == "account" || name == "queue" ? "none" : "-";
    const auto number = isAmount(name) ? numberIn(value) : std::nullopt;
    return number ? amountText(name, *number) : *value;
}

std::string ratioOf(double part, double whole) { return whole > 0 ? percent(part / whole) : "-"; }

constexpr const char* kRight = " class=\"n\"";

std::string bar(double part, double all) {
    const auto share = all > 0 ? std::clamp(part / all, 0.0, 1.0) : 0;
    return "<td><div class=\"bar\"><div style=\"width:" + twoDecimals(share * 100) + "%\"></div></div></td>" +
           cell(percent(share), kRight);
}

std::string head(const ReportTable& table, const Section& section) {
    std::string text = "<tr>";
    for (const auto column : shownColumns(table)) {
        const auto& name = table.columns[column];
        text += std::string("<th") + (isAmount(name) ? kRight : "") + ">" + html(heading(name)) + "</th>";
    }
    if (!section.part.empty())
        text += std::string("<th class=\"n\">") + section.ratio + "</th>";
    if (!section.shared.empty())
        text += "<th>" + html("share of " + heading(std::string(section.shared))) + "</th><th></th>";
    return text + "</tr>\n";
}

std::string line(const ReportTable& table, const Section& section, std::size_t row, double all) {
    std::string text = "<tr>";
    for (const auto column : shownColumns(table))
        text += cell(valueText(table, row, column), isAmount(table.columns[column]) ? kRight : "");
    if (!section.part.empty())
        text += cell(ratioOf(numberAt(table, row, section.part).value_or(0), numberAt(table, row, section.whole).value_or(0)),
                     kRight);
    if (!section.shared.empty())
        text += bar(numberAt(table, row, section.shared).value_or(0), all);
    return text + "</tr>\n";
}

bool hasSums(const ReportTable& table) {
    return std::ranges::any_of(table.columns,
                               [](const auto& column) { return isOfAll(column) && column != nameOfAll(kRowsColumn); });
}

std::string sumLine(const ReportTable& table, const Section& section) {
    if (!hasSums(table))
        return "";
    std::string text = "<tr class=\"sum\">";
    for (const auto column : shownColumns(table)) {
        const auto& name = table.columns[column];
        const auto sum = ofAll(table, name);
        if (columnOf(table, nameOfAll(name)))
            text += cell(sum ? amountText(name, *sum) : "-", kRight);
        else
            text += cell(column == 0 ? "all" : "");
    }
    if (!section.part.empty())
        text += cell(ratioOf(ofAll(table, section.part).value_or(0), ofAll(table, section.whole).value_or(0)), kRight);
    return text + (section.shared.empty() ? "" : "<td></td><td></td>") + "</tr>\n";
}

/// Tells the reader if the page does not show all rows.
std::string notice(const ReportTable& table, std::size_t shown) {
    const auto all = std::max<std::uint64_t>(table.rows.size(), whole(ofAll(table, kRowsColumn).value_or(0)));
    if (shown == all)
        return "";
    return "<p>The table shows only the first " + std::to_string(shown) + " of " + std::to_string(all) + " lines." +
           (hasSums(table) ? " The line \"all\" also counts the lines that the table does not show." : "") + "</p>\n";
}

std::string sectionHtml(const ReportTable& table, const Section& section) {
    auto text = "<h2>" + html(section.title) + "</h2>\n";
    if (table.rows.empty())
        return text + "<p>The table is empty.</p>\n";
    const auto rows = std::min(table.rows.size(), kMostRows);
    const auto all = ofAll(table, section.shared).value_or(0);
    text += "<p>" + html(section.text) + "</p>\n<div class=\"wide\"><table>\n" + head(table, section);
    for (std::size_t row = 0; row < rows; ++row)
        text += line(table, section, row, all);
    return text + sumLine(table, section) + "</table></div>\n" + notice(table, rows);
}

std::string cards(const ReportTable& totals) {
    const auto count = [&](std::string_view column) { return std::to_string(whole(numberAt(totals, 0, column).value_or(0))); };
    const auto amount = [&](std::string_view column) { return amountText(column, numberAt(totals, 0, column).value_or(0)); };
    const auto asked = numberAt(totals, 0, "cpu_asked_us").value_or(0);
    return "<div class=\"cards\">\n" + card("jobs", count("jobs"), "of " + count("users") + " users") +
           card("hosts of jobs", count("hosts"), "on " + count("nodes") + " nodes") +
           card("CPU time used", amount("cpu_used_us"), "of " + amount("cpu_asked_us")) +
           card("CPU efficiency", ratioOf(numberAt(totals, 0, "cpu_used_us").value_or(0), asked),
                amount("cpu_used_without_request_us") + " not compared") +
           "</div>\n";
}

std::string completeness(const ReportTable& table) {
    const auto nodes = whole(numberAt(table, 0, "nodes").value_or(0));
    const auto complete = whole(numberAt(table, 0, "complete_nodes").value_or(0));
    const auto missing = whole(numberAt(table, 0, "missing_receipts").value_or(0));
    const auto text = complete == nodes
                          ? "The archive has all receipts that the nodes have."
                          : "The archive may lack receipts of " + counted(nodes - std::min(nodes, complete), "node", "nodes") +
                                " out of " + std::to_string(nodes) + ".";
    return "<p>" + html(text) + "</p>\n" +
           (missing ? "<p>" + html(counted(missing, "receipt", "receipts") + " will never be in the archive.") + "</p>\n" : "");
}

} // namespace

std::string htmlSiteReport(const std::vector<ReportTable>& tables, RealTime since, RealTime until) {
    const auto* totals = find(tables, "totals");
    const auto* complete = find(tables, "completeness");
    auto body = "<h1>Site report</h1>\n<p>" +
                html("Jobs that ended from " + kLocalAmounts.time(since) + " to " + kLocalAmounts.time(until) + ".") + "</p>\n" +
                (complete ? completeness(*complete) : "") + (totals ? cards(*totals) : "");
    for (const auto& section : kSections)
        if (const auto* table = find(tables, section.table))
            body += sectionHtml(*table, section);
    for (const auto& table : tables)
        if (&table != totals && &table != complete &&
            std::ranges::find(kSections, table.name, &Section::table) == kSections.end())
            body += sectionHtml(table, {.table = table.name, .title = table.name.c_str(), .text = ""});
    return htmlDocument("Site report", body);
}

} // namespace pinfold
