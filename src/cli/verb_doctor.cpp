// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/doctor_host.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"
#include "doctor/checks.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

namespace pinfold {
namespace {

using doctor::Finding;
using doctor::FindingState;

/// One line on a terminal that says whom we wait for, as soon as that takes long.
class Progress {
public:
    Progress()
        : thread_(::isatty(STDERR_FILENO) == 1 ? std::jthread([this](const std::stop_token& stop) { watch(stop); })
                                               : std::jthread()) {}

    void asking(const char* whom) {
        const std::lock_guard lock(mutex_);
        whom_ = whom;
        changed_.notify_all();
    }

private:
    void watch(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        bool shown = false;
        while (!stop.stop_requested()) {
            const char* const before = whom_;
            if (changed_.wait_for(lock, stop, std::chrono::milliseconds(500), [&] { return whom_ != before; }) ||
                stop.stop_requested())
                continue;
            std::fprintf(stderr, "\r\x1b[Kpinfold: waiting for %s", whom_);
            shown = true;
        }
        if (shown)
            std::fputs("\r\x1b[K", stderr);
    }

    std::mutex mutex_;
    std::condition_variable_any changed_;
    const char* whom_ = "";
    std::jthread thread_;
};

Tone toneOf(FindingState state) {
    return state == FindingState::Ok ? Tone::Good : state == FindingState::Warn ? Tone::Warning : Tone::Bad;
}

std::string padded(std::string text, std::size_t width) {
    text.append(width - std::min(width, text.size()), ' ');
    return text;
}

std::string linesOf(const Finding& finding, std::size_t idWidth, const Terminal& terminal) {
    const auto state = std::string(toString(finding.state));
    auto text = terminal.colored(toneOf(finding.state), state) + std::string(6 - state.size(), ' ') +
                padded(finding.id, idWidth) + "  " + finding.found + "\n";
    const std::string indent(6 + idWidth + 2, ' ');
    if (finding.state == FindingState::Ok)
        return text;
    if (!finding.where.empty())
        text += indent + "where:  " + finding.where + "\n";
    if (!finding.remedy.empty())
        text += indent + "remedy: " + finding.remedy + "\n";
    return text;
}

std::size_t count(const std::vector<Finding>& findings, FindingState state) {
    return static_cast<std::size_t>(
        std::count_if(findings.begin(), findings.end(), [state](const auto& finding) { return finding.state == state; }));
}

std::string page(const std::vector<Finding>& findings, const Terminal& terminal) {
    std::size_t width = 0;
    for (const auto& finding : findings)
        width = std::max(width, finding.id.size());
    std::string text;
    for (const auto& finding : findings)
        text += linesOf(finding, width, terminal);
    return text + std::to_string(count(findings, FindingState::Ok)) + " ok, " +
           std::to_string(count(findings, FindingState::Warn)) + " warn, " + std::to_string(count(findings, FindingState::Fail)) +
           " fail\n";
}

} // namespace

ExitStatus verbDoctor(const VerbContext& context) {
    doctor::Host host;
    {
        Progress progress;
        host = lookAtHost([&progress](const char* whom) { progress.asking(whom); });
    }
    const auto findings = doctor::examine(host);
    context.terminal.print(context.line.json ? jsonFindings(findings) : page(findings, context.terminal));
    return count(findings, FindingState::Fail) == 0 ? ExitStatus::Ok : ExitStatus::Failed;
}

} // namespace pinfold
