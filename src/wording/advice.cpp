// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wording/advice.hpp"

#include "base/parse.hpp"
#include "wording/efficiency.hpp"

#include <cmath>
#include <optional>

namespace pinfold {
namespace {

using Advice = std::optional<std::string>;

constexpr Microseconds kShort = 60s; // pinfold gives no advice about a job that ran for less than kShort
// If a job's memory limit is below kLittleMemory, pinfold does not advise the user to ask for less memory. A small limit keeps
// only little memory from other jobs.
constexpr std::uint64_t kLittleMemory = 1ULL << 30;
constexpr double kMuch = 0.1; // pinfold gives advice about a wait if the wait takes at least a tenth of the job's run time

bool isShort(const Receipt& receipt) { return runTime(receipt) < kShort; }

double share(std::uint64_t part, std::uint64_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

double share(Microseconds part, Microseconds whole) { return share(part.count(), whole.count()); }

bool muchOfTheTime(const Receipt& receipt, std::optional<Microseconds> time) {
    return time && !isShort(receipt) && share(*time, runTime(receipt)) >= kMuch;
}

std::string percentOfTheTime(const Receipt& receipt, Microseconds time) {
    return std::to_string(std::llround(share(time, runTime(receipt)) * 100)) + "% of its time";
}

Advice onTime(const Receipt& receipt) {
    const auto limit = timeLimit(runTimeEnd(receipt.limits));
    // If a signal ended a job that had reached its run time limit, the signal came from the batch system.
    if (receipt.result == JobResult::Timeout || (limit && receipt.exit.signal && runTime(receipt) >= *limit))
        return "The job reached its run time limit: ask for more time, or let the job save its state and continue in another "
               "job.";
    if (limit && !isShort(receipt) && share(runTime(receipt), *limit) >= 0.95)
        return "The job almost reached its run time limit: ask for more time.";
    return std::nullopt;
}

Advice onKill(const Receipt& receipt) {
    if (!receipt.oom)
        return std::nullopt;
    switch (receipt.oom->cause) {
    case OomCause::OwnLimit:
        return "The job needed more memory than it had asked for: ask for more, or use less. Page cache does not count: the "
               "kernel frees page cache before it kills.";
    case OomCause::Node:
        return "The job was within its own limit, but the node ran out of memory, most often because other jobs have no limit. "
               "Tell the administrators, or ask for as much memory as the job needs.";
    case OomCause::Oomd:
        return "systemd-oomd killed the job because of memory pressure on the node: tell the administrators.";
    case OomCause::Administrator:
        return "An administrator lowered the limit below the job's use, or told the kernel to kill a process: ask the "
               "administrators.";
    }
    return std::nullopt;
}

Advice onSupervisor(const Receipt& receipt) {
    if (receipt.result != JobResult::SupervisorLost)
        return std::nullopt;
    return "The job's pinfold-run was killed, most often together with the batch system's daemon: look at the batch system's "
           "log.";
}

Advice onNode(const Receipt& receipt) {
    if (receipt.result != JobResult::NodeShutdown && receipt.result != JobResult::NodeLost)
        return std::nullopt;
    return "The job did not cause its own end: submit the job again, or let the batch system requeue jobs when a node fails.";
}

Advice onLeftovers(const Receipt& receipt) {
    if (receipt.leftovers.count == 0)
        return std::nullopt;
    return "The job left processes behind, and pinfold stopped them: let the job wait for all processes that it starts.";
}

Advice onMemory(const Receipt& receipt) {
    const auto& usage = receipt.usage;
    const auto limit = finite(receipt.limits.memoryMax);
    const bool atItsLimit = usage.memoryMaxEvents.value_or(0) > 0 || usage.memoryHighEvents.value_or(0) > 0;
    if (receipt.oom)
        return std::nullopt; // the receipt already names the cause of the job's end
    if (atItsLimit && muchOfTheTime(receipt, usage.memoryPressure))
        return "The job was at its memory limit and waited for memory in " + percentOfTheTime(receipt, *usage.memoryPressure) +
               ": ask for more memory.";
    if (!limit || *limit == 0)
        return std::nullopt;
    // The advice does not count page cache, because page cache fills all memory that is available. A receipt from an earlier
    // version of pinfoldd does not contain the job's memory need.
    const auto need = usage.memoryNeed ? usage.memoryNeed : usage.memoryPeakAnon;
    if (need && share(*need, *limit) >= 0.95)
        return "The job almost reached its memory limit: ask for more memory.";
    const auto most = usage.memoryNeed ? usage.memoryNeed : usage.memoryPeak;
    if (most && !isShort(receipt) && *limit >= kLittleMemory && share(*most, *limit) <= 0.25)
        return "The job asked for " + formatSize(*limit) + " of memory and needed " + formatSize(*most) +
               (usage.memoryNeed ? "" : " at most") + ": if you ask for less, the job may start sooner.";
    return std::nullopt;
}

Advice onCpu(const Receipt& receipt) {
    const auto efficiency = cpuEfficiency(receipt);
    const auto cpus = cpusOf(receipt);
    if (!efficiency || isShort(receipt))
        return std::nullopt;
    // If a job used clearly less CPU time than its quota allowed, the quota slowed the job down at some moments, but not all the
    // time. onCpu() gives advice about the quota only if the job's CPU efficiency is high.
    if (*efficiency >= 0.8 && muchOfTheTime(receipt, receipt.usage.cpuThrottled))
        return "The CPU quota slowed the job down: ask for more CPU time, or run fewer threads.";
    if (*cpus >= 2 && *efficiency <= 0.5)
        return "The job kept " + std::to_string(std::llround(*efficiency * 100)) +
               "% of its CPUs busy: ask for fewer CPUs, or let the job use all of them.";
    return std::nullopt;
}

Advice onDisks(const Receipt& receipt) {
    if (!muchOfTheTime(receipt, receipt.usage.ioPressureFull))
        return std::nullopt;
    return "The job did nothing but wait for disks in " + percentOfTheTime(receipt, *receipt.usage.ioPressureFull) +
           ": read and write less, in larger pieces, or on faster disks.";
}

Advice onTasks(const Receipt& receipt) {
    const auto limit = finite(receipt.limits.tasksMax);
    if (!limit || !receipt.usage.tasksPeak || *receipt.usage.tasksPeak < *limit)
        return std::nullopt;
    return "The job had as many processes and threads as its limit allows, and cannot start more: ask for a higher tasks_max.";
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
