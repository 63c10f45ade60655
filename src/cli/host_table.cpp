// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/host_table.hpp"

#include "base/escape.hpp"
#include "cli/format.hpp"
#include "wording/hosts_text.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

namespace pinfold {
namespace {

/// If the batch script ran on `host`, exitOn() returns the exit state of the batch script. If the batch script did not run on
/// `host`, exitOn() returns the exit state of the first task on `host` that failed. If a task ended and no task failed, the
/// result is 0. If the batch script did not run on `host`, the exit state in the receipt of `host` describes the whole job, so
/// exitOn() looks at the tasks.
ExitState exitOn(const HostOfJob& host) {
    ExitState exit;
    RealTime at = RealTime::max();
    for (const auto& receipt : host.receipts) {
        if (receipt.taskList.empty())
            exit = receipt.exit;
        for (const auto& task : receipt.taskList) {
            if (task.kind == TaskKind::Batch)
                return receipt.exit;
            if (task.exit.status == 0 && !exit.known())
                exit.status = 0;
            if ((task.exit.signal || task.exit.status.value_or(0) != 0) && task.ended < at)
                std::tie(exit, at) = std::tuple(task.exit, task.ended);
        }
    }
    return exit;
}

/// Returns the time between the event that ended the whole job and the job's end on `host`. If the job ended on `host` before the
/// event, the text begins with a minus sign.
std::string afterFirst(const HostsOfJob& job, const HostOfJob& host, const Amounts& amounts) {
    const auto& first = job.first.event;
    const auto isLost = [](const Receipt& receipt) { return receipt.result == JobResult::NodeLost; };
    // If a host went down, the time of the job's end on this host is not known.
    if (!first || isLost(job.receiptOf(*first)) || isLost(host.receipts.back()))
        return "-";
    if (host.role == HostRole::First)
        return amounts.duration(0s);
    const auto shown = [&amounts](Microseconds delay) { return amounts.duration(amounts.raw ? delay : roundedDelay(delay)); };
    if (host.role == HostRole::Before)
        return "-" + shown(timeBetween(host.ended, first->at));
    return shown(timeBetween(first->at, host.ended));
}

} // namespace

std::string hostTable(const HostsOfJob& job, const Amounts& amounts, const TableStyle& style) {
    const std::vector<Column> columns{{.name = "host", .least = 12},
                                      {.name = "result"},
                                      {.name = "exit", .number = true},
                                      {.name = "after", .number = true},
                                      {.name = "cpu_time", .number = true, .leaves = 1, .heading = "cpu"},
                                      {.name = "memory_need", .number = true, .heading = "memory need"},
                                      {.name = "leftovers", .number = true, .leaves = 2}};
    std::vector<const HostOfJob*> hosts;
    for (const auto& host : job.hosts)
        hosts.push_back(&host);
    std::ranges::stable_sort(hosts, {},
                             [](const HostOfJob* host) { return std::pair(host->role != HostRole::First, host->ended); });
    std::vector<std::vector<std::string>> rows;
    for (const auto* host : hosts)
        rows.push_back({host->name.empty() ? "-" : legible(host->name, kMostHostBytes),
                        std::string(toString(host->receipts.back().result)), exitText(exitOn(*host)),
                        afterFirst(job, *host, amounts), amounts.duration(host->cpu), amounts.size(host->memoryNeed),
                        std::to_string(host->leftovers)});
    if (job.hosts.size() > 1) // one node cannot show which hosts are missing, because each node has only its own receipts
        for (const auto& name : job.missing)
            rows.push_back({legible(name, kMostHostBytes), "missing", "-", "-", "-", "-", "-"});
    return formatTable(columns, rows, style);
}

} // namespace pinfold
