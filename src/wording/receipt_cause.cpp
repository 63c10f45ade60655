// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/escape.hpp"
#include "base/parse.hpp"
#include "wording/efficiency.hpp"
#include "wording/receipt_text.hpp"

#include <cstring>

namespace pinfold {
namespace {

std::string signalInWords(int signal) {
    const char* description = ::sigdescr_np(signal); // sigdescr_np(3) returns English text, unlike strsignal(3)
    return signalName(signal) + (description ? " (" + std::string(description) + ")" : "");
}

std::string andExit(const Receipt& receipt) {
    return receipt.exit.known() ? ", and " + exitInWords(receipt.exit) : std::string();
}

std::string onRequest(const Receipt& receipt, NameOfUser nameOf) {
    return "on request" + (receipt.stoppedBy ? " of user " + nameIn(receipt, *receipt.stoppedBy, nameOf) : std::string());
}

std::string runTimeLimit(const Receipt& receipt) {
    const auto limit = timeLimit(receipt.limits.runTimeMax);
    return "its run time limit" + (limit ? " of " + formatDuration(*limit) : std::string());
}

/// Says what ended the job. The text is empty if the result is Exited, Signaled, OutOfMemory or NodeLost.
std::string stopInWords(const Receipt& receipt, NameOfUser nameOf) {
    switch (receipt.result) {
    case JobResult::Stopped:
        return "was stopped " + onRequest(receipt, nameOf);
    case JobResult::Timeout:
        return "was stopped: it reached " + runTimeLimit(receipt);
    case JobResult::NodeShutdown:
        return "was stopped: the node is being shut down";
    case JobResult::SupervisorLost:
        return "was stopped: its supervisor was killed";
    case JobResult::Lost:
        return "was lost: its systemd units disappeared";
    case JobResult::Exited:
    case JobResult::Signaled:
    case JobResult::OutOfMemory:
    case JobResult::NodeLost:
        break;
    }
    return "";
}

std::string memoryInWords(const Receipt& receipt) {
    const auto& usage = receipt.usage;
    const auto bytes = usage.memoryNeed ? usage.memoryNeed : usage.memoryPeak;
    if (!bytes)
        return "";
    const auto limit = finite(receipt.limits.memoryMax);
    return (usage.memoryNeed ? "needed " : "had a peak of ") + formatSize(*bytes) + " of memory" +
           (usage.memoryNeed ? "" : " with page cache") + (limit ? " (limit " + formatSize(*limit) + ")" : "");
}

/// Returns a sentence such as "It ran for 2h until 2026-11-20T22:43:09Z, used 1h 58min of CPU time and needed 3.2G of memory."
std::string figuresInWords(const Receipt& receipt) {
    std::string text = "It ran for " + formatDuration(receipt.wall);
    if (receipt.suspended > 0s)
        text += " (" + formatDuration(receipt.suspended) + " of it suspended)";
    text += " until " + formatUtc(receipt.ended);
    const auto memory = memoryInWords(receipt);
    if (receipt.usage.cpuUser && receipt.usage.cpuSystem)
        text += (memory.empty() ? " and used " : ", used ") + formatDuration(*receipt.usage.cpuUser + *receipt.usage.cpuSystem) +
                " of CPU time";
    return text + (memory.empty() ? "." : " and " + memory + ".");
}

std::string oomInWords(const OomVerdict& oom) {
    std::string text;
    switch (oom.cause) {
    case OomCause::OwnLimit:
        text = "It was killed because it needed more memory than its limit";
        if (const auto limit = finite(oom.limit))
            text += " of " + formatSize(*limit);
        break;
    case OomCause::Node:
        text = "It was killed because the node ran out of memory";
        break;
    case OomCause::Oomd:
        text = "It was killed by systemd-oomd";
        break;
    case OomCause::Administrator:
        text = "It was killed because an administrator lowered its memory limit or told the kernel to kill a process";
        break;
    }
    if (!oom.victimName)
        return text;
    text += "; the kernel chose " + *oom.victimName;
    if (oom.victim)
        text += " (process " + std::to_string(*oom.victim) +
                (oom.victimRss ? ", " + formatSize(*oom.victimRss) + " resident" : std::string()) + ")";
    return text;
}

} // namespace

std::string exitInWords(const ExitState& exit) {
    if (exit.signal)
        return "was ended by " + signalInWords(*exit.signal);
    if (exit.status)
        return "exited with status " + std::to_string(*exit.status);
    return "ended; its exit status was not reported to pinfold";
}

std::string causeInWords(const Receipt& receipt, NameOfUser nameOf) {
    switch (receipt.result) {
    case JobResult::Exited:
    case JobResult::Signaled:
        return "It " + exitInWords(receipt.exit) + ".";
    case JobResult::Stopped:
        return "It was stopped " + onRequest(receipt, nameOf) + andExit(receipt) + ".";
    case JobResult::Timeout:
        return "It was stopped at " + runTimeLimit(receipt) + andExit(receipt) + ".";
    case JobResult::OutOfMemory:
        return receipt.oom ? oomInWords(*receipt.oom) + "." : "It was killed because it was out of memory.";
    case JobResult::SupervisorLost:
        return "The job's supervisor, pinfold-run, was killed; pinfold then stopped the job's remaining processes.";
    case JobResult::NodeShutdown:
        return "The node was shut down while it ran" + andExit(receipt) + ".";
    case JobResult::NodeLost:
        return std::string("The node went down without a shutdown (a power cut, a reset or a crash). When the job ended is not "
                           "known: the end shown here is the last time at which the node is known to have run.") +
               (receipt.usage.cpuUser ? " The figures show what the job had used at most 5min before the node went down." : "");
    case JobResult::Lost:
        return "It was lost: its systemd units disappeared.";
    }
    return "";
}

std::string userNumber(uid_t uid) { return uid == 0 ? "root" : std::to_string(uid); }

std::string nameIn(const Receipt& receipt, uid_t uid, NameOfUser nameOf) {
    constexpr std::size_t kMostBytes = 64;
    const bool known = uid == receipt.uid && receipt.origin.user && !receipt.origin.user->empty();
    return known ? legible(*receipt.origin.user, kMostBytes) : nameOf(uid);
}

std::string stopLine(const Receipt& receipt, const std::string& host, NameOfUser nameOf) {
    const auto why = stopInWords(receipt, nameOf);
    return why.empty() ? "" : "pinfold: job " + receipt.key + " on " + host + " " + why + ". " + figuresInWords(receipt);
}

} // namespace pinfold
