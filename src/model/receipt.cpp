// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/receipt.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace pinfold {
namespace {

constexpr std::array kNames{
    std::pair{JobResult::Exited, std::string_view("exited")},
    std::pair{JobResult::Signaled, std::string_view("signaled")},
    std::pair{JobResult::Stopped, std::string_view("stopped")},
    std::pair{JobResult::Timeout, std::string_view("timeout")},
    std::pair{JobResult::OutOfMemory, std::string_view("out-of-memory")},
    std::pair{JobResult::SupervisorLost, std::string_view("supervisor-lost")},
    std::pair{JobResult::NodeShutdown, std::string_view("node-shutdown")},
    std::pair{JobResult::NodeLost, std::string_view("node-lost")},
    std::pair{JobResult::Lost, std::string_view("lost")},
};

/// Cuts the text to at most `bytes`, which must have room for the mark.
void cut(std::string& text, std::size_t bytes) {
    constexpr std::string_view mark = "…";
    if (text.size() <= bytes)
        return;
    auto end = bytes - mark.size();
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) // inside a UTF-8 character
        --end;
    text.resize(end);
    text += mark;
}

/// Returns the length to which the longest texts are cut, so that all lengths together are at most `bytes`.
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

std::string_view toString(JobResult result) {
    for (const auto& [known, name] : kNames)
        if (known == result)
            return name;
    return "?";
}

std::optional<JobResult> jobResultFromString(std::string_view text) {
    for (const auto& [result, name] : kNames)
        if (name == text)
            return result;
    return std::nullopt;
}

std::vector<std::string> jobResultNames() {
    std::vector<std::string> names;
    for (const auto& [result, name] : kNames)
        names.emplace_back(name);
    return names;
}

JobOutcome outcomeOf(const Receipt& receipt) {
    if (receipt.result == JobResult::Exited && !receipt.exit.known())
        return JobOutcome::Unknown;
    return receipt.result == JobResult::Exited && receipt.exit.status == 0 ? JobOutcome::Succeeded : JobOutcome::Failed;
}

bool amend(Receipt& receipt, const ExitState& exit) {
    if (receipt.exit.known() || !exit.known())
        return false;
    receipt.exit = exit;
    if (receipt.result == JobResult::Exited && exit.signal)
        receipt.result = JobResult::Signaled;
    return true;
}

} // namespace pinfold
