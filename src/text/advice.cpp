// SPDX-License-Identifier: LGPL-2.1-or-later
#include "text/advice.hpp"

#include "base/parse.hpp"
#include "text/efficiency.hpp"

#include <cmath>
#include <optional>

namespace pinfold {
namespace {

using Advice = std::optional<std::string>;

constexpr std::uint64_t kShort = 60'000'000;        // microseconds: of less nothing is concluded
constexpr std::uint64_t kLittleMemory = 1ULL << 30; // bytes: to ask for so much in vain harms nobody
constexpr double kMuch = 0.1;                       // of the run time

bool isShort(const Receipt& receipt) { return runTime(receipt) < kShort; }

double share(std::uint64_t part, std::uint64_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

bool muchOfTheTime(const Receipt& receipt, std::optional<std::uint64_t> time) {
    return time && !isShort(receipt) && share(*time, runTime(receipt)) >= kMuch;
}

std::string percentOfTheTime(const Receipt& receipt, std::uint64_t time) {
    return std::to_string(std::llround(share(time, runTime(receipt)) * 100)) + "% of its time";
}

Advice onTime(const Receipt& receipt) {
    const auto limit = finite(receipt.limits.runTimeMax);
    if (receipt.result == JobResult::Timeout)
        return "It hit its run time limit: ask for more time, or let it save its state and go on in a further job.";
    if (limit && !isShort(receipt) && share(runTime(receipt), *limit) >= 0.95)
        return "It was all but at its run time limit: ask for more time.";
    return std::nullopt;
}

Advice onKill(const Receipt& receipt) {
    if (!receipt.oom)
        return std::nullopt;
    switch (receipt.oom->cause) {
    case OomCause::OwnLimit:
        return "It needed more memory than it had asked for: ask for more, or use less. Page cache does not count: the kernel "
               "takes it "
               "back before it kills.";
    case OomCause::Node:
        return "It was within its own limit: the node was short of memory, most often for other jobs without a limit. Tell the "
               "site, "
               "or ask for what the job needs, so that the node is not filled beyond what it has.";
    case OomCause::Oomd:
        return "systemd-oomd ended it because of memory pressure on the node: tell the site.";
    case OomCause::Administrator:
        return "The limit was lowered below what the job used, or the kernel was told to kill: ask the administrator.";
    }
    return std::nullopt;
}

Advice onSupervisor(const Receipt& receipt) {
    if (receipt.result != JobResult::SupervisorLost)
        return std::nullopt;
    return "Its pinfold-run was killed, most often with the batch system's own daemon: look at that system's log.";
}

Advice onNode(const Receipt& receipt) {
    if (receipt.result != JobResult::NodeShutdown && receipt.result != JobResult::NodeLost)
        return std::nullopt;
    return "The end was not the job's own doing: submit it again, or have the batch system do so after a node's failure.";
}

Advice onLeftovers(const Receipt& receipt) {
    if (receipt.leftovers.count == 0)
        return std::nullopt;
    return "It left processes behind: have the job wait for what it starts, they are stopped at its end.";
}

Advice onMemory(const Receipt& receipt) {
    const auto& usage = receipt.usage;
    const auto limit = finite(receipt.limits.memoryMax);
    const bool atItsLimit = usage.memoryMaxEvents.value_or(0) > 0 || usage.memoryHighEvents.value_or(0) > 0;
    if (receipt.oom)
        return std::nullopt; // which says it all
    if (atItsLimit && muchOfTheTime(receipt, usage.memoryPressure))
        return "It was at its memory limit and waited for memory in " + percentOfTheTime(receipt, *usage.memoryPressure) +
               ": ask for more.";
    if (!limit || *limit == 0)
        return std::nullopt;
    // The peak alone proves nothing: page cache fills whatever there is.
    if (usage.memoryPeakAnon && share(*usage.memoryPeakAnon, *limit) >= 0.95)
        return "It was all but at its memory limit: ask for more.";
    if (usage.memoryPeak && !isShort(receipt) && *limit >= kLittleMemory && share(*usage.memoryPeak, *limit) <= 0.25)
        return "It asked for " + formatSize(*limit) + " of memory and needed " + formatSize(*usage.memoryPeak) +
               " at most: ask for less, and it finds a place sooner.";
    return std::nullopt;
}

Advice onCpu(const Receipt& receipt) {
    const auto efficiency = cpuEfficiency(receipt);
    const auto cpus = cpusAllowed(receipt.limits);
    if (!efficiency || isShort(receipt))
        return std::nullopt;
    // Where it had less than it might have used, it was not held back by the quota as a whole but for moments.
    if (*efficiency >= 0.8 && muchOfTheTime(receipt, receipt.usage.cpuThrottled))
        return "It was held back by its CPU quota: ask for more, or have it run fewer threads.";
    if (*cpus >= 2 && *efficiency <= 0.5)
        return "It kept " + std::to_string(std::llround(*efficiency * 100)) +
               "% of its CPUs busy: ask for fewer, or have it run on all of them.";
    return std::nullopt;
}

Advice onDisks(const Receipt& receipt) {
    if (!muchOfTheTime(receipt, receipt.usage.ioPressureFull))
        return std::nullopt;
    return "It did nothing but wait for disks in " + percentOfTheTime(receipt, *receipt.usage.ioPressureFull) +
           ": read and write less, or in larger pieces, or on faster disks.";
}

Advice onTasks(const Receipt& receipt) {
    const auto limit = finite(receipt.limits.tasksMax);
    if (!limit || !receipt.usage.tasksPeak || *receipt.usage.tasksPeak < *limit)
        return std::nullopt;
    return "It had as many processes and threads as its limit allows: further ones fail to start. Ask for more.";
}

} // namespace

std::vector<std::string> adviceOn(const Receipt& receipt) {
    std::vector<std::string> all;
    for (const auto on : {onKill, onTime, onSupervisor, onNode, onLeftovers, onTasks, onMemory, onCpu, onDisks})
        if (auto advice = on(receipt))
            all.push_back(std::move(*advice));
    return all;
}

} // namespace pinfold
