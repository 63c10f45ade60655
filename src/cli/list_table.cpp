// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/list_table.hpp"

#include "base/escape.hpp"
#include "base/word_list.hpp"
#include "cli/format.hpp"
#include "cli/limit_text.hpp"
#include "model/limit_table.hpp"
#include "wording/efficiency.hpp"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>
#include <variant>

namespace pinfold {
namespace {

constexpr DetailParts kHolding{.holding = true};
constexpr DetailParts kUsage{.usage = true};
constexpr DetailParts kIdentity{.identity = true};

/// Returns a column of `pinfold list`. `value` returns the value by which `pinfold list` sorts the jobs. A job without a known
/// value comes before all jobs with a known value.
template <class Value>
ListColumn detailColumn(Column column, DetailParts parts, std::function<std::string(const JobDetail&)> text, Value value) {
    return {std::move(column), std::move(text), [value](const JobDetail& a, const JobDetail& b) { return value(a) < value(b); },
            parts};
}

std::vector<ListColumn> jobColumns(const Amounts& amounts, const TableStyle& style) {
    const auto by = [](auto member) {
        return [member](const JobDetail& a, const JobDetail& b) { return a.job.*member < b.job.*member; };
    };
    return {
        {{.name = "key", .least = 24}, [](const JobDetail& one) { return printable(one.job.key); }, by(&JobInfo::key)},
        {{.name = "user", .least = 8}, [](const JobDetail& one) { return userName(one.job.uid); }, by(&JobInfo::uid)},
        {{.name = "state"},
         [](const JobDetail& one) { return std::string(toString(one.job.state)); },
         [](const JobDetail& a, const JobDetail& b) { return toString(a.job.state) < toString(b.job.state); }},
        {{.name = "tasks", .number = true},
         [](const JobDetail& one) { return std::to_string(one.job.tasks); },
         by(&JobInfo::tasks)},
        {{.name = "age", .number = true},
         [amounts, now = style.now](const JobDetail& one) { return amounts.runTime(timeBetween(one.job.created, now)); },
         [](const JobDetail& a, const JobDetail& b) { return a.job.created > b.job.created; }},
        {{.name = "leader", .number = true, .leaves = 1},
         [](const JobDetail& one) { return one.job.leader ? std::to_string(*one.job.leader) : "-"; },
         by(&JobInfo::leader)},
        {{.name = "uid", .number = true}, [](const JobDetail& one) { return std::to_string(one.job.uid); }, by(&JobInfo::uid)},
        {{.name = "created"}, [style](const JobDetail& one) { return tableTime(one.job.created, style); }, by(&JobInfo::created)},
        {{.name = "slice", .least = 15}, [](const JobDetail& one) { return one.job.slice; }, by(&JobInfo::slice)},
        {{.name = "unit", .least = 15},
         [](const JobDetail& one) { return batchScope(one.job).value_or("-"); },
         by(&JobInfo::unit)},
    };
}

std::vector<ListColumn> useColumns(const Amounts& amounts) {
    const auto usage = [](const JobDetail& one) { return one.usage.value_or(Usage{}); };
    const auto need = [usage](const JobDetail& one) { return usage(one).memoryNeed; };
    const auto memory = [usage](const JobDetail& one) { return memoryInUse(usage(one)); };
    const auto cpu = [usage](const JobDetail& one) { return cpuTime(usage(one)); };
    const auto cpus = [](const JobDetail& one) { return one.allocation.cpus.toString(); };
    const auto gpus = [](const JobDetail& one) { return one.allocation.gpus.toString(); };
    const auto orNone = [](auto value) {
        return [value](const JobDetail& one) { return value(one).empty() ? std::string("-") : value(one); };
    };
    return {detailColumn(
                {.name = "memory_need", .number = true, .heading = "need"}, kUsage,
                [amounts, need](const JobDetail& one) { return amounts.size(need(one)); }, need),
            detailColumn(
                {.name = "memory_in_use", .number = true, .heading = "memory"}, kUsage,
                [amounts, memory](const JobDetail& one) { return amounts.size(memory(one)); }, memory),
            detailColumn(
                {.name = "cpu_time", .number = true, .heading = "cpu"}, kUsage,
                [amounts, cpu](const JobDetail& one) { return amounts.duration(cpu(one)); }, cpu),
            detailColumn({.name = "allocated_cpus", .least = 8, .heading = "cpus"}, kHolding, orNone(cpus), cpus),
            detailColumn({.name = "allocated_gpus", .least = 8, .heading = "gpus"}, kHolding, orNone(gpus), gpus)};
}

std::optional<std::uint64_t> numberOf(const ResourceLimits& limits, const LimitRow& row) {
    const auto* number = std::get_if<std::optional<std::uint64_t> ResourceLimits::*>(&row.member);
    return number ? limits.**number : std::nullopt;
}

/// Returns a column for each limit.
std::vector<ListColumn> limitColumns(const Amounts& amounts) {
    std::vector<ListColumn> columns;
    for (const auto& row : limitTable()) {
        const auto text = [&row, amounts](const JobDetail& one) { return limitValue(one.limits, row, amounts); };
        const bool number = std::holds_alternative<std::optional<std::uint64_t> ResourceLimits::*>(row.member);
        columns.push_back(detailColumn({.name = row.name, .number = number}, kHolding, text, [&row, text](const JobDetail& one) {
            return std::pair(numberOf(one.limits, row), text(one));
        }));
    }
    return columns;
}

std::string memberText(const std::string& value) { return value; }
std::string memberText(std::uint64_t value) { return std::to_string(value); }
std::string memberText(const std::vector<std::string>& names) { return names.empty() ? "-" : joined(names, ","); }
std::string memberText(const Labels& labels) { return memberText(labelPairs(labels)); }
template <class T> std::string memberText(const std::optional<T>& value) { return value ? memberText(*value) : "-"; }

/// Returns the columns for the facts that the batch system or the job's owner has told pinfoldd.
std::vector<ListColumn> identityColumns() {
    const auto slots = [](const JobDetail& one) { return one.slots; };
    std::vector<ListColumn> columns{detailColumn(
        {.name = "slots", .number = true}, kHolding, [slots](const JobDetail& one) { return memberText(slots(one)); }, slots)};
    forEachIdentityMember([&columns](const char* name, auto member) {
        const auto value = [member](const JobDetail& one) { return one.identity.*member; };
        const auto text = [value](const JobDetail& one) { return memberText(value(one)); };
        if constexpr (std::is_same_v<decltype(member), std::optional<std::uint64_t> JobIdentity::*>)
            columns.push_back(detailColumn({.name = name, .number = true}, kIdentity, text, value));
        else
            columns.push_back(detailColumn({.name = name, .least = 8}, kIdentity, text, value));
    });
    return columns;
}

std::vector<ListColumn> allColumns(const Amounts& amounts, const TableStyle& style) {
    auto columns = jobColumns(amounts, style);
    for (auto& more : {useColumns(amounts), identityColumns(), limitColumns(amounts)})
        columns.insert(columns.end(), more.begin(), more.end());
    return columns;
}

} // namespace

std::vector<ListColumn> listColumns(std::vector<std::string> names, const Amounts& amounts, const TableStyle& style) {
    if (names.empty())
        names = {"key", "user", "state", "tasks", "age", "leader", "unit"};
    const auto known = allColumns(amounts, style);
    std::vector<ListColumn> columns;
    for (const auto& name : names)
        std::ranges::copy_if(known, std::back_inserter(columns),
                             [&name](const ListColumn& one) { return one.column.name == name; });
    return columns;
}

DetailParts partsOf(const std::vector<ListColumn>& columns) {
    DetailParts parts;
    for (const auto& column : columns) {
        parts.holding |= column.parts.holding;
        parts.usage |= column.parts.usage;
        parts.identity |= column.parts.identity;
    }
    return parts;
}

std::vector<std::string> listColumnNames() {
    std::vector<std::string> names;
    for (const auto& column : allColumns({}, {}))
        names.push_back(column.column.name);
    return names;
}

std::string listTable(const std::vector<ListColumn>& columns, const std::vector<JobDetail>& jobs, const TableStyle& style) {
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
