// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/receipt.hpp"

#include "base/enum_names.hpp"

#include <algorithm>
#include <utility>

namespace pinfold {
namespace {

constexpr auto kJobResultNames = enumNames<JobResult>({
    {JobResult::Exited, "exited"},
    {JobResult::Signaled, "signaled"},
    {JobResult::Stopped, "stopped"},
    {JobResult::Timeout, "timeout"},
    {JobResult::OutOfMemory, "out-of-memory"},
    {JobResult::SupervisorLost, "supervisor-lost"},
    {JobResult::NodeShutdown, "node-shutdown"},
    {JobResult::NodeLost, "node-lost"},
    {JobResult::Lost, "lost"},
});

/// Shortens the text to at most `bytes` bytes, and adds "…" to the end of a shortened text. `bytes` must not be less than the
/// length of "…".
void cut(std::string& text, std::size_t bytes) {
    constexpr std::string_view mark = "…";
    if (text.size() <= bytes)
        return;
    auto end = bytes - mark.size();
    // A cut inside a UTF-8 character would make the text invalid.
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
        --end;
    text.resize(end);
    text += mark;
}

/// Returns the maximum length for the texts of boundCommands(). boundCommands() shortens every text that is longer than the
/// maximum length. After boundCommands() has shortened the texts, all texts together have at most `bytes` bytes.
std::size_t fairShare(std::vector<std::size_t> lengths, std::size_t bytes) {
    std::ranges::sort(lengths);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const auto share = bytes / (lengths.size() - i);
        if (lengths[i] > share)
            return share;
        bytes -= lengths[i];
    }
    return lengths.empty() ? 0 : lengths.back();
}

void addExit(Receipt& receipt, const ExitState& exit) {
    receipt.exit = exit;
    for (auto& task : receipt.taskList)
        if (task.kind == TaskKind::Batch)
            task.exit = exit;
    if (receipt.result == JobResult::Exited && exit.signal)
        receipt.result = JobResult::Signaled;
}

} // namespace

void Leftovers::boundCommands() {
    commands.resize(std::min(commands.size(), kMostCommands));
    std::vector<std::size_t> lengths;
    for (const auto& command : commands)
        lengths.push_back(command.size());
    const auto share = fairShare(std::move(lengths), kMostCommandBytes);
    for (auto& command : commands)
        cut(command, share);
}

std::string_view toString(JobResult result) { return kJobResultNames[result]; }

std::optional<JobResult> jobResultFromString(std::string_view text) { return kJobResultNames.find(text); }

std::vector<std::string> jobResultNames() { return kJobResultNames.all(); }

TaskReceipt onlyTask(const Receipt& receipt, std::string command) {
    const auto& usage = receipt.usage;
    TaskReceipt task{.kind = TaskKind::Batch,
                     .command = std::move(command),
                     .started = receipt.started,
                     .ended = receipt.ended,
                     .exit = receipt.exit,
                     .cpu = {},
                     .memoryPeak = usage.memoryPeak,
                     .exact = false};
    if (usage.cpuUser && usage.cpuSystem)
        task.cpu = *usage.cpuUser + *usage.cpuSystem;
    task.exact = task.cpu.has_value();
    return task;
}

JobOutcome outcomeOf(const Receipt& receipt) {
    if (receipt.result == JobResult::Exited && !receipt.exit.known())
        return JobOutcome::Unknown;
    return receipt.result == JobResult::Exited && receipt.exit.status == 0 ? JobOutcome::Succeeded : JobOutcome::Failed;
}

bool amend(Receipt& receipt, const ExitState& exit, const JobIdentity& identity) {
    if (receipt.identity.run && identity.run && *receipt.identity.run != *identity.run)
        return false;
    const auto known = receipt.identity;
    complete(receipt.identity, identity);
    const bool addsExit = !receipt.exit.known() && exit.known();
    if (addsExit)
        addExit(receipt, exit);
    return addsExit || receipt.identity != known;
}

} // namespace pinfold
