// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/job_page.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"
#include "wording/efficiency.hpp"
#include "wording/enforcement.hpp"
#include "wording/page_lines.hpp"
#include "wording/receipt_text.hpp"
#include "wording/wrap.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

constexpr std::size_t kPageWidth = 80;
constexpr std::size_t kRowIndent = page::kNameWidth + 2; // aligns the rows of this page with the lines of page::identityLines()
constexpr const char* kUsageIsPrivate =
    "only the job's owner, root and the members of pinfold-admin and pinfold-audit may see the job's usage and processes";

std::string row(const std::string& name, const std::string& value) {
    return "  " + name + std::string(kRowIndent - 2 - name.size(), ' ') + value + "\n";
}

std::string against(const std::string& used, const std::string& limit) {
    return limit == "-" ? used : fmt::format("{} of {}", used, limit);
}

/// Returns a text for the end of a row, such as ", peak 7". If the amount is not known, the text is empty.
std::string part(const char* name, const std::string& amount) {
    return amount == "-" ? "" : fmt::format(", {} {}", name, amount);
}

std::string limitLines(const JobDetail& detail, const Amounts& amounts) {
    const auto usage = detail.usage.value_or(Usage{});
    const auto& limits = detail.limits;
    const auto mark = [&detail](const char* limit) { return enforcementMark(detail.limitsNotEnforced, limit); };
    std::string text = row("memory", against(amounts.size(memoryInUse(usage)), amounts.size(limits.memoryMax)) +
                                         mark("memory_max") + part("needed up to", amounts.size(usage.memoryNeed)) +
                                         part("page cache", amounts.size(pageCache(usage))));
    const auto cpu = usage.cpuUser && usage.cpuSystem ? std::optional(*usage.cpuUser + *usage.cpuSystem) : std::nullopt;
    text +=
        row("cpu",
            amounts.duration(cpu) +
                (limits.cpuQuota ? fmt::format(", quota {}{}", amounts.quota(limits.cpuQuota), mark("cpu_quota")) : "") +
                (limits.cpuWeight ? fmt::format(", weight {}{}", *limits.cpuWeight, mark("cpu_weight")) : "") +
                (limits.allowedCpus ? fmt::format(", on CPUs {}{}", limits.allowedCpus->toString(), mark("allowed_cpus")) : ""));
    text += row("threads", against(Amounts::number(usage.tasksCurrent), Amounts::number(limits.tasksMax)) + mark("tasks_max") +
                               part("peak", Amounts::number(usage.tasksPeak)));
    if (const auto words = allocationInWords(detail.allocation); !words.empty())
        text += row("reserved", words);
    if (const auto end = runTimeEnd(limits))
        text += row("run time", "at most " + amounts.runTime(timeLimit(end)));
    if (const auto words = notEnforcedInWords(detail.limitsNotEnforced); !words.empty())
        text += row("limits", wrapped(words, kPageWidth, kRowIndent));
    if (detail.usageDenied)
        text += row("note", wrapped(kUsageIsPrivate, kPageWidth, kRowIndent));
    return text;
}

} // namespace

std::string processTable(const std::vector<JobProcess>& processes, const Amounts& amounts, const TableStyle& style) {
    const std::vector<Column> columns{{.name = "pid", .number = true},
                                      {.name = "task", .number = true},
                                      {.name = "user", .least = 8, .leaves = 3},
                                      {.name = "started", .leaves = 2},
                                      {.name = "cpu", .number = true},
                                      {.name = "rss", .number = true},
                                      {.name = "state"},
                                      {.name = "wait_point", .least = 8, .leaves = 1, .heading = "waits in"},
                                      {.name = "command", .least = 15}};
    std::vector<std::vector<std::string>> rows;
    for (const auto& process : processes)
        rows.push_back({std::to_string(process.pid), std::to_string(process.task), userName(process.uid),
                        tableTime(process.started, style), amounts.duration(process.cpu), amounts.size(process.rss),
                        process.state, process.waitPoint.value_or("-"), process.command});
    return formatTable(columns, rows, style);
}

std::string jobPage(const JobDetail& detail, const Terminal& terminal, const Amounts& amounts, const TableStyle& style) {
    const auto& job = detail.job;
    const auto tone = job.state == ShownState::Running ? Tone::Good : Tone::Warning;
    std::string text = fmt::format("Job {} of user {}: {}\n\n", job.key, userName(job.uid),
                                   terminal.colored(tone, std::string(toString(job.state))));
    text += row("since", amounts.time(job.created));
    if (job.unkillableSince)
        text += row("unkillable", wrapped(fmt::format("SIGKILL of {} has had no effect; the job ends when its processes end{}",
                                                      amounts.time(*job.unkillableSince),
                                                      job.unkillableInFuse ? "; " + std::string(kAbortFuse) : ""),
                                          kPageWidth, kRowIndent));
    text += row("slice", job.slice);
    text += row("scope", batchScope(job).value_or("-"));
    text += row("tasks", std::to_string(job.tasks));
    if (detail.slots)
        text += row("slots", std::to_string(*detail.slots));
    text += page::identityLines(detail.identity, page::nodesLine(detail.identity)) + limitLines(detail, amounts);
    if (detail.processes)
        text += "\n" + processTable(*detail.processes, amounts, style);
    return text;
}

} // namespace pinfold
