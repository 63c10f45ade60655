// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/doctor_host.hpp"
#include "cli/doctor_page.hpp"
#include "cli/json.hpp"
#include "cli/textfile.hpp"
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

using doctor::FindingState;

/// Prints "waiting for PROGRAM" on a terminal if the answer of a program takes longer than half a second.
class DoctorProgress {
public:
    DoctorProgress()
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

struct DoctorOptions {
    bool problems = false;
    bool metrics = false;
};

OptionSet describe(DoctorOptions& options) {
    return {{.name = "--problems", .help = "show only warnings and failures", .set = into(options.problems)},
            {.name = "--metrics",
             .help = "also write figures for node_exporter to pinfold-doctor.prom, beside the file metrics.textfile",
             .set = into(options.metrics)}};
}

ExitStatus examineNode(const VerbContext& context, const DoctorOptions& options) {
    doctor::Host host;
    {
        DoctorProgress progress;
        host = lookAtHost([&progress](const char* whom) { progress.asking(whom); });
    }
    const auto findings = doctor::examine(host);
    const auto shown = options.problems ? problemsOf(findings) : findings;
    context.terminal.print(context.json ? jsonFindings(shown)
                                        : doctorPage(shown, context.terminal, context.terminal.width()) + countsLine(findings));
    if (options.metrics)
        if (const auto written = writeTextfile(kDoctorTextfile, findingMetrics(findings)); !written)
            return fail(written.error());
    const bool failed =
        std::any_of(findings.begin(), findings.end(), [](const auto& finding) { return finding.state == FindingState::Fail; });
    return failed ? ExitStatus::Failed : ExitStatus::Ok;
}

} // namespace

Verb doctorVerb() {
    return makeVerb<DoctorOptions>("doctor", "check this node, and say how to fix what is wrong", describe, examineNode);
}

} // namespace pinfold
