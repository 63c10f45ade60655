// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/verbs.hpp"

#include "base/escape.hpp"
#include "cli/json.hpp"
#include "cli/time_out.hpp"

#include <cstdio>
#include <string_view>
#include <utility>

namespace pinfold {

namespace {

std::string failingJob; // printable; it ends with the separator

} // namespace

void nameErrorsAfter(const std::string& job) { failingJob = printable(job, 300) + ": "; }

std::string titleOf(const CommandLine& line) { return line.jobs.size() > 1 ? "Job " + line.job + "\n" : ""; }

ExitStatus fail(const Error& error) {
    std::fprintf(stderr, "pinfold: %s%s\n", failingJob.c_str(), error.message.c_str());
    return errorRow(error.code).exitStatus;
}

ExitStatus endWithReceipt(const VerbContext& context, const Result<Receipt>& receipt) {
    if (!receipt)
        return fail(explained(receipt.error(), context.line.job, context.line.timeout.value_or(CommandLine::kDefaultTimeout)));
    if (context.line.json)
        context.terminal.print(jsonReceipt(*receipt));
    return ExitStatus::Ok;
}

Verb findVerb(const std::string& name) {
    static constexpr std::pair<std::string_view, Verb> verbs[] = {
        {"list", verbList},       {"status", verbStatus},
        {"show", verbShow},       {"ps", verbPs},
        {"top", verbTop},         {"why", verbWhy},
        {"history", verbHistory}, {"strays", verbStrays},
        {"stop", verbStop},       {"kill", verbKill},
        {"limits", verbLimits},   {"suspend", verbSuspend},
        {"resume", verbResume},   {"drain", verbDrain},
        {"undrain", verbUndrain}, {"reconcile", verbReconcile},
        {"reload", verbReload},   {"open", verbOpen},
        {"end", verbEnd},         {"adopt", verbAdopt},
        {"vacuum", verbVacuum},   {"check-config", verbCheckConfig},
        {"doctor", verbDoctor},   {"version", verbVersion},
        {"wait", verbWait},       {"run", verbRun},
        {"events", verbEvents},   {"logs", verbLogs},
        {"config", verbConfig},
    };
    for (const auto& [known, verb] : verbs)
        if (known == name)
            return verb;
    return nullptr;
}

} // namespace pinfold
