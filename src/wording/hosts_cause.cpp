// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/escape.hpp"
#include "base/parse.hpp"
#include "wording/efficiency.hpp"
#include "wording/hosts_lines.hpp"
#include "wording/hosts_text.hpp"

#include <algorithm>

namespace pinfold {
namespace {

const TaskReceipt* taskOf(const EndEvent& event, const Receipt& receipt) {
    const auto task = std::ranges::find_if(receipt.taskList, [&](const auto& one) { return one.number == event.task; });
    return task == receipt.taskList.end() ? nullptr : &*task;
}

/// Returns a text such as "its batch script" or "task 3 (simulate)".
std::string taskInWords(const EndEvent& event, const Receipt& receipt) {
    const auto* task = taskOf(event, receipt);
    if (event.kind == EndKind::BatchEnded || (task && task->kind == TaskKind::Batch))
        return "its batch script";
    if (!task)
        return "";
    return "task " + std::to_string(task->number) + (task->command.empty() ? "" : " (" + legible(task->command, 64) + ")");
}

/// Returns the end of a sentence, such as " because memory ran out". The caller writes the name of the host before the returned
/// text.
std::string memoryInWords(const Receipt& receipt) {
    if (!receipt.oom)
        return " because memory ran out";
    switch (receipt.oom->cause) {
    case OomCause::OwnLimit: {
        const auto limit = finite(receipt.oom->limit);
        return " at the job's own memory limit" + (limit ? " of " + formatSize(*limit) : std::string());
    }
    case OomCause::Node:
        return " when the memory of the host ran out";
    case OomCause::Oomd:
        return " by systemd-oomd";
    case OomCause::Administrator:
        return " after an administrator had lowered the memory limit or told the kernel to kill a process";
    }
    return "";
}

std::string killInWords(const EndEvent& event, const Receipt& receipt, const std::string& host) {
    auto what = taskInWords(event, receipt);
    if (what.empty())
        what = event.decides ? "it" : "one of its processes";
    return what + " was killed on " + host + memoryInWords(receipt);
}

bool isSuccess(const EndEvent& event) {
    return event.kind == EndKind::BatchEnded && !event.exit.signal && event.exit.status.value_or(0) == 0;
}

/// Says how much later the job ended on the hosts with HostRole::After than on the first host.
std::string whenInWords(const HostsOfJob& job) {
    const auto& after = job.after;
    if (job.first.event->kind == EndKind::NodeLost) // the time at which the host went down is not known
        return "afterwards";
    if (after.latest <= kClockTolerance)
        return "at the same time";
    return delaysInWords(after) + " later";
}

/// Returns true if every host with HostRole::After has a batch script that exited by itself.
bool exitedThemselves(const HostsOfJob& job) {
    return std::ranges::all_of(job.hosts, [](const HostOfJob& host) {
        return host.role != HostRole::After || std::ranges::any_of(host.receipts.back().taskList, [](const TaskReceipt& task) {
                   return task.kind == TaskKind::Batch && task.exit.status;
               });
    });
}

std::string othersInWords(const HostsOfJob& job) {
    const auto& after = job.after;
    if (!job.first.event || after.hosts == 0)
        return "";
    const bool all = after.hosts + 1 == job.hosts.size();
    const auto who = after.hosts == 1
                         ? (all ? "the other host" : "1 other host")
                         : (all ? "the other " : "") + std::to_string(after.hosts) + (all ? " hosts" : " other hosts");
    const std::string verb = isSuccess(*job.first.event) || exitedThemselves(job) ? " ended "
                             : after.hosts == 1                                   ? " was stopped "
                                                                                  : " were stopped ";
    return "; " + who + verb + whenInWords(job);
}

/// Says what is known about the job's end if no receipt explains the end. Slurm reports the exit state of the whole job to each
/// host.
std::string unknownCause(const HostsOfJob& job) {
    std::string text = "The receipts of " + counted(job.hosts.size(), "host", "hosts") + " do not say what ended the job.";
    if (!job.missing.empty() || job.missingUnnamed > 0)
        text += " A receipt that is missing may say what ended the job.";
    for (const auto& host : job.hosts)
        for (const auto& receipt : host.receipts)
            if (receipt.exit.known())
                return text + " The batch system reported that it " + exitInWords(receipt.exit) + ".";
    return text;
}

} // namespace

Microseconds roundedDelay(Microseconds delay) {
    if (delay == kForever)
        return delay;
    const auto digit = delay < 10s ? Microseconds(100ms) : Microseconds(1s);
    return (delay + digit / 2) / digit * digit;
}

std::string delaysInWords(const Delays& delays) {
    const auto earliest = roundedDelay(delays.earliest);
    const auto latest = roundedDelay(delays.latest);
    if (earliest == latest)
        return formatDuration(latest);
    return delays.earliest <= kClockTolerance ? "up to " + formatDuration(latest)
                                              : formatDuration(earliest) + " to " + formatDuration(latest);
}

std::string nameInWords(const HostOfJob& host) {
    return host.name.empty() ? "a host whose name is not known" : "host " + legible(host.name, kMostHostBytes);
}

std::string endInWords(const HostsOfJob& job, const EndEvent& event, NameOfUser nameOf) {
    const auto& receipt = job.receiptOf(event);
    const auto host = nameInWords(job.hosts[event.host]);
    switch (event.kind) {
    case EndKind::NodeLost:
        return host + " went down without a shutdown (a power cut, a reset or a crash)";
    case EndKind::OutOfMemory:
        return killInWords(event, receipt, host);
    case EndKind::NodeShutdown:
        return host + " was shut down";
    case EndKind::TimeLimit: {
        const auto limit = finite(timeLimit(receipt.limits.runTimeMax));
        return "it reached its run time limit" + (limit ? " of " + formatDuration(*limit) : std::string()) + " on " + host;
    }
    case EndKind::Stopped:
        return (receipt.stoppedBy ? "user " + nameIn(receipt, *receipt.stoppedBy, nameOf) : std::string("somebody")) +
               " stopped it on " + host;
    case EndKind::SupervisorLost:
        return "its supervisor, pinfold-run, was killed on " + host;
    case EndKind::UnitsLost:
        return "its systemd units disappeared on " + host;
    case EndKind::Crash:
    case EndKind::TaskFailed:
    case EndKind::BatchEnded:
    case EndKind::TaskKilled:
        return taskInWords(event, receipt) + " on " + host + " " + exitInWords(event.exit);
    }
    return "";
}

std::string causeInWords(const HostsOfJob& job, NameOfUser nameOf) {
    const auto& first = job.first.event;
    if (!first)
        return unknownCause(job);
    return std::string("It ended ") + (isSuccess(*first) ? "when " : "because ") + endInWords(job, *first, nameOf) +
           othersInWords(job) + ".";
}

} // namespace pinfold
