// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/node_page.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"
#include "cli/format.hpp"
#include "wording/wrap.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

std::string drainLine(const Drain& drain, const Terminal& terminal, const Amounts& amounts) {
    return fmt::format("{}{} by {}: {}\n", terminal.colored(Tone::Warning, "draining"),
                       drain.since ? " since " + amounts.time(*drain.since) : "",
                       drain.by ? userName(*drain.by) : "pinfoldd itself",
                       drain.reason.empty() ? "no reason given" : drain.reason);
}

/// Returns a text such as ", 2 running, 1 suspended".
std::string listed(const std::map<std::string, std::size_t>& counts) {
    std::string text;
    for (const auto& [name, count] : counts)
        text += fmt::format(", {} {}", count, printable(name));
    return text;
}

std::string resourceTable(const NodeResources& resources, const Amounts& amounts, const TableStyle& style) {
    const std::vector<Column> columns{{.name = "resource"},
                                      {.name = "total", .number = true},
                                      {.name = "kept", .number = true},
                                      {.name = "given", .number = true},
                                      {.name = "free", .number = true}};
    const auto cpus = [](std::optional<std::uint64_t> amount) {
        return amount ? fmt::format("{:.6g}", cpusOf(*amount)) : Amounts::number({});
    };
    std::vector<std::vector<std::string>> rows;
    const auto add = [&rows](const char* name, const NodeShare& share, auto&& format) {
        if (!share.total && !share.given)
            return;
        auto& row = rows.emplace_back(std::vector{std::string(name)});
        forEachPart(share, [&](const char*, const auto& amount) { row.push_back(format(amount)); });
    };
    add("CPUs", resources.cpus, cpus);
    add("memory", resources.memory, [&amounts](const auto& amount) { return amounts.size(amount); });
    add("GPUs", resources.gpus, Amounts::number);
    return rows.empty() ? "" : "\n" + formatTable(columns, rows, style);
}

std::string unlimitedLine(std::optional<std::uint64_t> jobs, const char* lack, const char* resource) {
    if (jobs.value_or(0) == 0)
        return {};
    return fmt::format("{} no {}, so GIVEN does not count {} {}.\n", counted(*jobs, "job has", "jobs have"), lack,
                       *jobs == 1 ? "its" : "their", resource);
}

std::string errorLines(const std::vector<DaemonMessage>& errors, const Terminal& terminal, const Amounts& amounts,
                       std::size_t width) {
    if (errors.empty())
        return "\nThe journal has no warnings and no errors of pinfoldd.\n";
    std::string text = "\nThe last warnings and errors of pinfoldd:\n";
    for (const auto& error : errors) {
        const auto head = fmt::format("  {}  {:<7}  ", amounts.time(error.time), error.isError ? "error" : "warning");
        text +=
            head + terminal.colored(error.isError ? Tone::Bad : Tone::Warning, wrapped(error.message, width, head.size())) + "\n";
    }
    return text;
}

} // namespace

std::map<std::string, std::size_t> jobsByState(const std::vector<JobInfo>& jobs) {
    std::map<std::string, std::size_t> counts;
    for (const auto& info : jobs)
        ++counts[std::string(toString(info.state))];
    return counts;
}

std::map<std::string, std::size_t> jobsByScheduler(const std::vector<JobInfo>& jobs) {
    std::map<std::string, std::size_t> counts;
    for (const auto& info : jobs)
        ++counts[info.key.substr(0, info.key.find('.'))];
    return counts;
}

std::string nodePage(const NodeStatus& node, const Terminal& terminal, const Amounts& amounts, const TableStyle& style) {
    auto text = fmt::format("pinfoldd {} is running, {}{}\n", node.version, counted(node.jobs.size(), "live job", "live jobs"),
                            listed(jobsByState(node.jobs)));
    if (node.drain)
        text += drainLine(*node.drain, terminal, amounts);
    if (!node.jobs.empty())
        text += fmt::format("live jobs by batch system: {}\n", listed(jobsByScheduler(node.jobs)).substr(2));
    text += resourceTable(node.resources, amounts, style);
    if (style.legend && !style.pairs)
        text += unlimitedLine(node.resources.cpus.unlimitedJobs, "slots and no limit of CPUs", "CPUs") +
                unlimitedLine(node.resources.memory.unlimitedJobs, "limit of memory", "memory");
    return node.lastErrors ? text + errorLines(*node.lastErrors, terminal, amounts, style.width) : text;
}

} // namespace pinfold
