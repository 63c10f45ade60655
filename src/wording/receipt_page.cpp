// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "base/word_list.hpp"
#include "wording/advice.hpp"
#include "wording/efficiency.hpp"
#include "wording/enforcement.hpp"
#include "wording/page_lines.hpp"
#include "wording/receipt_text.hpp"
#include "wording/task_table.hpp"
#include "wording/wrap.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace pinfold {
namespace {

using page::exactPercent;
using page::further;
using page::kNameWidth;
using page::kWidth;
using page::line;

constexpr std::size_t kMostDevices = 3;
constexpr std::size_t kMostCommands = 5;
constexpr std::size_t kMostAdvice = 3;
constexpr std::size_t kMostTasks = 10;
constexpr std::size_t kCommandBytes = 100;

std::string wholePercent(double share) { return std::to_string(std::llround(share * 100)) + "%"; }

std::string percentOf(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? "" : ", " + wholePercent(static_cast<double>(part) / static_cast<double>(whole));
}

std::string timeLines(const Receipt& receipt, const Amounts& amounts) {
    auto after = ", after " + amounts.runTime(receipt.wall);
    if (receipt.suspended > 0s)
        after += ", of which suspended " + amounts.runTime(receipt.suspended);
    auto text = line("started", amounts.time(receipt.started)) + line("ended", amounts.time(receipt.ended) + after);
    if (const auto limit = timeLimit(runTimeEnd(receipt.limits)))
        text += line("run time", amounts.runTime(runTime(receipt)) + " of " + amounts.runTime(limit) +
                                     percentOf(toUsec(runTime(receipt)), toUsec(*limit)));
    return text;
}

std::string hostLine(const Origin& origin) {
    if (!origin.host)
        return "";
    return line("host", *origin.host + (origin.cluster ? " of the cluster " + *origin.cluster : ""));
}

std::string cpuLines(const Receipt& receipt, const Amounts& amounts) {
    const auto cpu = cpuTime(receipt.usage);
    if (!cpu)
        return line("CPU", "not known");
    auto text = amounts.duration(cpu) + " (user " + amounts.duration(receipt.usage.cpuUser) + ", system " +
                amounts.duration(receipt.usage.cpuSystem) + ")";
    text = line("CPU", text);
    if (const auto efficiency = cpuEfficiency(receipt))
        text += page::cpuEfficiencyLine(*efficiency, *coreWalltime(receipt), *cpusOf(receipt), amounts);
    if (receipt.usage.cpuThrottled.value_or(0s) > 0s)
        text += further("slowed down by its quota for " + amounts.duration(receipt.usage.cpuThrottled) + " (sum over all CPUs)");
    return text;
}

std::string memoryLines(const Receipt& receipt, const Amounts& amounts) {
    const auto& usage = receipt.usage;
    auto text = line("memory", usage.memoryNeed ? "needed " + amounts.size(usage.memoryNeed)
                                                : "pinfold does not know how much the job needed");
    if (const auto limit = finite(receipt.limits.memoryMax)) {
        const auto words = amounts.size(limit) + enforcementMark(receipt.limitsNotEnforced, "memory_max");
        const auto efficiency = memoryEfficiency(receipt);
        text += further(efficiency ? "memory efficiency: " + exactPercent(*efficiency) + " of " + words : "limit " + words);
    }
    if (usage.memoryPeak)
        text += further(
            amounts.size(usage.memoryPeak) + " at the peak with page cache" +
            (usage.memoryPeakFile
                 ? ", of which page cache " +
                       amounts.size(*usage.memoryPeakFile - std::min(*usage.memoryPeakFile, usage.memoryPeakShmem.value_or(0)))
                 : std::string()));
    if (usage.swapPeak.value_or(0) > 0)
        text += line("swap", amounts.size(usage.swapPeak) + " at its peak");
    return text;
}

std::string taskLine(const Receipt& receipt) {
    auto text = std::to_string(receipt.tasks);
    if (receipt.usage.tasksPeak)
        text += ", " + counted(*receipt.usage.tasksPeak, "process or thread", "processes and threads") + " at the peak";
    if (const auto limit = finite(receipt.limits.tasksMax); limit && receipt.usage.tasksPeak)
        text += " of " + std::to_string(*limit) + enforcementMark(receipt.limitsNotEnforced, "tasks_max");
    return line("tasks", text);
}

/// Returns the rows as lines. Each column is as wide as its widest cell.
std::string aligned(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths(rows.front().size());
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const auto& row : rows) {
        std::string words = "  ";
        for (std::size_t i = 0; i < row.size(); ++i)
            words += "  " + row[i] + std::string(widths[i] - row[i].size(), ' ');
        words.erase(words.find_last_not_of(' ') + 1);
        text += words + "\n";
    }
    return text;
}

std::string taskLines(const Receipt& receipt, const Amounts& amounts) {
    const auto table = taskTable(receipt, amounts, kMostTasks);
    if (table.rows.empty())
        return "";
    auto text = aligned(table.rows);
    if (table.more > 0)
        text += "    and " + std::to_string(table.more) + " more\n";
    if (!table.exact)
        text += "    " + std::string(kInexact) + "\n";
    return text;
}

std::string diskLines(const Receipt& receipt, const Amounts& amounts) {
    const auto& usage = receipt.usage;
    if (!usage.ioRead || !usage.ioWritten)
        return "";
    const auto amount = [&amounts](std::uint64_t read, std::uint64_t written) {
        return "read " + amounts.size(read) + ", written " + amounts.size(written);
    };
    auto text = line("disks", amount(*usage.ioRead, *usage.ioWritten));
    if (usage.ioDevices.size() < 2)
        return text;
    auto devices = usage.ioDevices;
    std::stable_sort(devices.begin(), devices.end(),
                     [](const DeviceIo& a, const DeviceIo& b) { return a.read + a.written > b.read + b.written; });
    for (std::size_t i = 0; i < std::min(devices.size(), kMostDevices); ++i)
        text += further(devices[i].device + ": " + amount(devices[i].read, devices[i].written));
    if (devices.size() > kMostDevices)
        text += further("and " + std::to_string(devices.size() - kMostDevices) + " more");
    return text;
}

std::string waitLine(const Usage& usage, const Amounts& amounts) {
    std::vector<std::string> words;
    for (const auto& [name, time] :
         {std::pair{"CPU", usage.cpuPressure}, std::pair{"memory", usage.memoryPressure}, std::pair{"disks", usage.ioPressure}})
        if (time)
            words.push_back(std::string("for ") + name + " " + amounts.duration(time));
    return words.empty() ? "" : line("waited", joined(words, ", "));
}

/// Describes an out-of-memory kill in a job that ended for a different reason. For all other jobs, the text is empty.
std::string oomLines(const Receipt& receipt) {
    return receipt.oom && receipt.result != JobResult::OutOfMemory ? line("killed", oomLine(*receipt.oom, {})) : "";
}

std::string unkillableLine(const Receipt& receipt) {
    const auto& count = receipt.unkillableProcesses;
    return count ? line("unkillable", counted(*count, "process", "processes") + " outlived SIGKILL") : "";
}

std::string shortened(const std::string& text) {
    if (text.size() <= kCommandBytes)
        return text;
    auto end = kCommandBytes;
    // A cut inside a UTF-8 character would make the text invalid.
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
        --end;
    return text.substr(0, end) + "…";
}

std::string leftoverLines(const Receipt& receipt, const Amounts& amounts) {
    const auto& leftovers = receipt.leftovers;
    if (leftovers.count == 0) // there are no leftovers, or pinfold could not look for leftovers because the node went down
        return receipt.result == JobResult::NodeLost ? "" : line("left behind", "nothing");
    auto text = line("left behind", counted(leftovers.count, "process", "processes") + ", CPU " +
                                        amounts.duration(leftovers.cpu) + ", stopped by pinfold:");
    const auto shown = std::min(leftovers.commands.size(), kMostCommands);
    for (std::size_t i = 0; i < shown; ++i)
        text += "    " + shortened(leftovers.commands[i]) + "\n";
    if (leftovers.count > shown)
        text += "    " + std::string(shown == 0 ? "" : "and ") + std::to_string(leftovers.count - shown) +
                (shown == 0 ? " not named\n" : " more\n");
    return text;
}

std::string adviceLines(const Receipt& receipt, std::size_t width) {
    const auto advice = adviceOn(receipt);
    std::string text = advice.empty() ? "" : "\n";
    for (std::size_t i = 0; i < std::min(advice.size(), kMostAdvice); ++i)
        text += wrapped(advice[i], width > 0 ? width : kWidth) + "\n";
    return text;
}

std::string limitLine(const Receipt& receipt) {
    const auto words = notEnforcedInWords(receipt.limitsNotEnforced);
    return words.empty() ? "" : line("limits", wrapped(words, kWidth, kNameWidth + 2));
}

std::string allocationLine(const Allocation& allocation) {
    const auto words = allocationInWords(allocation);
    return words.empty() ? "" : line("reserved", words);
}

} // namespace

std::string allocationInWords(const Allocation& allocation) {
    std::vector<std::string> words;
    if (!allocation.cpus.empty())
        words.push_back("CPUs " + allocation.cpus.toString());
    if (!allocation.gpus.empty())
        words.push_back("GPUs " + allocation.gpus.toString());
    if (allocation.exclusive)
        words.emplace_back("no other job on the node");
    return joined(words, ", ");
}

std::string receiptPage(const Receipt& receipt, NameOfUser nameOf, const Amounts& amounts, std::size_t width) {
    const auto cause =
        "Job " + receipt.key + " of user " + nameIn(receipt, receipt.uid, nameOf) + " is over. " + causeInWords(receipt, nameOf);
    return wrapped(cause, width) + "\n\n" + hostLine(receipt.origin) +
           page::identityLines(receipt.identity, page::nodesLine(receipt.identity)) + timeLines(receipt, amounts) +
           allocationLine(receipt.allocation) + cpuLines(receipt, amounts) + memoryLines(receipt, amounts) + taskLine(receipt) +
           taskLines(receipt, amounts) + diskLines(receipt, amounts) + waitLine(receipt.usage, amounts) + limitLine(receipt) +
           oomLines(receipt) + unkillableLine(receipt) + leftoverLines(receipt, amounts) + adviceLines(receipt, width);
}

} // namespace pinfold
