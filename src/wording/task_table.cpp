// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wording/task_table.hpp"

#include <algorithm>

namespace pinfold {
namespace {

std::string exitOf(const ExitState& exit) {
    if (exit.signal)
        return "signal " + std::to_string(*exit.signal);
    return exit.status ? std::to_string(*exit.status) : "-";
}

std::vector<std::string> row(const TaskReceipt& task, const Amounts& amounts) {
    const auto mark = [&](std::string text) { return text == "-" || task.exact ? text : text + "+"; };
    return {std::to_string(task.number),
            std::string(toString(task.kind)),
            task.command.empty() ? "-" : task.command,
            amounts.runTime(timeBetween(task.started, task.ended)),
            exitOf(task.exit),
            mark(amounts.duration(task.cpu)),
            mark(amounts.size(task.memoryPeak))};
}

} // namespace

TaskTable taskTable(const Receipt& receipt, const Amounts& amounts, std::size_t most) {
    const auto& tasks = receipt.taskList;
    if (tasks.size() < 2)
        return {};
    TaskTable table{.rows = {{"task", "kind", "command", "run time", "exit", "CPU", "peak with page cache"}}};
    const auto shown = std::min(tasks.size(), most);
    for (std::size_t i = 0; i < shown; ++i) {
        table.rows.push_back(row(tasks[i], amounts));
        table.exact = table.exact && tasks[i].exact;
    }
    // A task that did not start has a number, but no entry in the list. If the list is shorter than its maximum length, it has
    // all tasks that ran.
    const auto all = tasks.size() < TaskReceipt::kMost ? tasks.size() : std::max<std::size_t>(receipt.tasks, tasks.size());
    table.more = all - shown;
    return table;
}

} // namespace pinfold
