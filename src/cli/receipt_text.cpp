// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/receipt_text.hpp"

#include "base/parse.hpp"

#include <cmath>
#include <cstdint>

namespace pinfold {
namespace {

std::string exitWords(const ExitState& exit) {
    if (exit.signal)
        return "was ended by " + signalName(*exit.signal);
    if (exit.status)
        return "exited with status " + std::to_string(*exit.status);
    return "ended; its exit status is known to the batch system only";
}

std::string line(const std::string& name, const std::string& value) {
    const std::size_t width = 13;
    return "  " + name + std::string(name.size() < width ? width - name.size() : 1, ' ') + value + "\n";
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? "-" : std::to_string(std::llround(static_cast<double>(part) * 100.0 / static_cast<double>(whole))) + "%";
}

/// CPUs that the job asked for: by quota, else by its CPU list; in microseconds of CPU time a second.
std::optional<std::uint64_t> cpusAsked(const ResourceLimits& limits) {
    if (limits.cpuQuota && *limits.cpuQuota != kInfinity)
        return *limits.cpuQuota;
    if (!limits.allowedCpus)
        return std::nullopt;
    std::uint64_t cpus = 0;
    for (const auto byte : limits.allowedCpus->toBitmap())
        cpus += static_cast<std::uint64_t>(__builtin_popcount(byte));
    return cpus * 1'000'000;
}

std::string cpuLine(const Receipt& receipt, const Amounts& amounts) {
    if (!receipt.usage.cpuUser || !receipt.usage.cpuSystem)
        return line("CPU", "not known");
    const auto cpu = *receipt.usage.cpuUser + *receipt.usage.cpuSystem;
    auto text = amounts.duration(cpu) + " (user " + amounts.duration(receipt.usage.cpuUser) + ", system " +
                amounts.duration(receipt.usage.cpuSystem) + ")";
    if (const auto asked = cpusAsked(receipt.limits)) {
        const auto possible = static_cast<double>(receipt.wall) * static_cast<double>(*asked) / 1e6;
        text += ", " + percent(cpu, static_cast<std::uint64_t>(possible)) + " of what it asked for";
    }
    return line("CPU", text);
}

std::string memoryLine(const Receipt& receipt, const Amounts& amounts) {
    if (!receipt.usage.memoryPeak)
        return line("memory", "not known");
    auto text = amounts.size(receipt.usage.memoryPeak) + " at its peak";
    if (receipt.limits.memoryMax && *receipt.limits.memoryMax != kInfinity)
        text += " of " + amounts.size(receipt.limits.memoryMax) + ", " +
                percent(*receipt.usage.memoryPeak, *receipt.limits.memoryMax);
    return line("memory", text);
}

/// A kill that the job as a whole outlived.
std::string oomLines(const Receipt& receipt) {
    return receipt.oom && receipt.result != JobResult::OutOfMemory ? line("killed", oomLine(*receipt.oom, {})) : "";
}

std::string leftoverLines(const Receipt& receipt, const Amounts& amounts) {
    const auto& leftovers = receipt.leftovers;
    if (leftovers.count == 0)
        return line("left behind", "nothing");
    auto text = line("left behind", std::to_string(leftovers.count) + " process(es), CPU " + amounts.duration(leftovers.cpu) +
                                        ", stopped by pinfold:");
    for (const auto& command : leftovers.commands)
        text += "    " + command + "\n";
    if (leftovers.count > leftovers.commands.size())
        text += "    " + std::string(leftovers.commands.empty() ? "" : "and ") +
                std::to_string(leftovers.count - leftovers.commands.size()) +
                (leftovers.commands.empty() ? " not named\n" : " more\n");
    return text;
}

std::string oomAdvice(const Receipt& receipt) {
    switch (receipt.oom->cause) {
    case OomCause::OwnLimit:
        return "It needed more memory than it had asked for: ask for more, or use less. Page cache does not count: the kernel "
               "takes\n"
               "it back before it kills.";
    case OomCause::Node:
        return "It was within its own limit: the node was short of memory, most often for other jobs without a limit. Tell the "
               "site,\nor ask for what the job needs, so that the node is not filled beyond what it has.";
    case OomCause::Oomd:
        return "systemd-oomd ended it because of memory pressure on the node: tell the site.";
    case OomCause::Administrator:
        return "The limit was lowered below what the job used, or the kernel was told to kill: ask the administrator.";
    }
    return "";
}

std::string advice(const Receipt& receipt) {
    if (receipt.result == JobResult::Timeout)
        return "It hit its run time limit: ask for more time, or let it save its state and go on in a further job.";
    if (receipt.oom)
        return oomAdvice(receipt);
    if (receipt.result == JobResult::SupervisorLost)
        return "Its pinfold-run was killed, most often with the batch system's own daemon: look at that system's log.";
    if (receipt.leftovers.count > 0)
        return "It left processes behind: have the job wait for what it starts, they are stopped at its end.";
    return "";
}

std::string oomInWords(const Receipt& receipt) {
    const auto& oom = *receipt.oom;
    std::string text;
    switch (oom.cause) {
    case OomCause::OwnLimit:
        text = "It was killed because it needed more memory than its limit" +
               (oom.limit && *oom.limit != kInfinity ? " of " + formatSize(*oom.limit) : std::string());
        break;
    case OomCause::Node:
        text = "It was killed because the node ran out of memory";
        break;
    case OomCause::Oomd:
        text = "It was killed by systemd-oomd";
        break;
    case OomCause::Administrator:
        text = "It was killed for memory by the administrator's doing";
        break;
    }
    if (oom.victimName)
        text += "; the kernel chose " + *oom.victimName + " (process " + std::to_string(*oom.victim) + ", " +
                formatSize(oom.victimRss.value_or(0)) + " resident)";
    return text + ".";
}

} // namespace

std::string causeInWords(const Receipt& receipt) {
    switch (receipt.result) {
    case JobResult::Exited:
    case JobResult::Signaled:
        return "It " + exitWords(receipt.exit) + ".";
    case JobResult::Stopped:
        return "It was stopped on request" +
               (receipt.stoppedBy ? " of user " + userName(static_cast<uid_t>(*receipt.stoppedBy)) : std::string()) +
               (receipt.exit.known() ? ", and " + exitWords(receipt.exit) : std::string()) + ".";
    case JobResult::Timeout:
        return "It was stopped at its run time limit" +
               (receipt.limits.runTimeMax ? " of " + formatDuration(*receipt.limits.runTimeMax) : std::string()) +
               (receipt.exit.known() ? ", and " + exitWords(receipt.exit) : std::string()) + ".";
    case JobResult::OutOfMemory:
        return receipt.oom ? oomInWords(receipt) : "It was killed for want of memory.";
    case JobResult::SupervisorLost:
        return "Its supervisor, pinfold-run, was killed; what was left of the job was stopped then.";
    case JobResult::Lost:
        return "It was lost: its units vanished, or the node went down.";
    }
    return "";
}

std::string receiptPage(const Receipt& receipt, const std::string& user, const Amounts& amounts) {
    std::string text = "Job " + receipt.key + " of user " + user + " is over. " + causeInWords(receipt) + "\n\n";
    text += line("started", formatUtc(receipt.started));
    text += line("ended", formatUtc(receipt.ended) + ", after " + amounts.duration(receipt.wall));
    text += cpuLine(receipt, amounts);
    text += memoryLine(receipt, amounts);
    text +=
        line("tasks", std::to_string(receipt.tasks) + (receipt.usage.tasksPeak ? ", " + std::to_string(*receipt.usage.tasksPeak) +
                                                                                     " process(es) and thread(s) at the peak"
                                                                               : ""));
    if (receipt.usage.ioRead && receipt.usage.ioWritten)
        text +=
            line("disks", "read " + amounts.size(receipt.usage.ioRead) + ", written " + amounts.size(receipt.usage.ioWritten));
    text += oomLines(receipt);
    text += leftoverLines(receipt, amounts);
    if (const auto hint = advice(receipt); !hint.empty())
        text += "\n" + hint + "\n";
    return text;
}

} // namespace pinfold
