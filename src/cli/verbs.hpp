// SPDX-License-Identifier: LGPL-2.1-or-later
// One function for each verb, in a file of its own (verb_*.cpp). The functions print results to standard output and messages to
// standard error, and return the exit status.
#pragma once

#include "base/clock.hpp"
#include "base/error_code.hpp"
#include "base/result.hpp"
#include "cli/command_line.hpp"
#include "cli/format.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "client/manager_client.hpp"
#include "text/amounts.hpp"

#include <string>

namespace pinfold {

struct VerbContext {
    explicit VerbContext(const CommandLine& commandLine)
        : line(commandLine), terminal(commandLine.terminal), amounts{commandLine.rawBytes} {}

    TableStyle tableStyle() const { return {line.legend, line.parsable ? 0 : terminal.width(), line.parsable, realTimeNow()}; }

    const CommandLine& line;
    Terminal terminal;
    Amounts amounts;
};

/// Says which of several jobs is handled now, so that fail() names it.
void nameErrorsAfter(const std::string& job);

/// The line above what is printed for one of several jobs, with its line break. Empty if there is only one job.
std::string titleOf(const CommandLine& line);

/// Prints the error in one line, and returns its exit status.
ExitStatus fail(const Error& error);

/// Ends a verb that waited for a job's end. The receipt is printed only with --json.
ExitStatus endWithReceipt(const VerbContext& context, const Result<Receipt>& receipt);

using Verb = ExitStatus (*)(const VerbContext&);

ExitStatus verbList(const VerbContext& context);
ExitStatus verbStatus(const VerbContext& context);
ExitStatus verbShow(const VerbContext& context);
ExitStatus verbPs(const VerbContext& context);
ExitStatus verbTop(const VerbContext& context);
ExitStatus verbWhy(const VerbContext& context);
ExitStatus verbEvents(const VerbContext& context);
ExitStatus verbLogs(const VerbContext& context);
ExitStatus verbHistory(const VerbContext& context);
ExitStatus verbStrays(const VerbContext& context);
ExitStatus verbStop(const VerbContext& context);
ExitStatus verbKill(const VerbContext& context);
ExitStatus verbLimits(const VerbContext& context);
ExitStatus verbSuspend(const VerbContext& context);
ExitStatus verbResume(const VerbContext& context);
ExitStatus verbDrain(const VerbContext& context);
ExitStatus verbUndrain(const VerbContext& context);
ExitStatus verbReconcile(const VerbContext& context);
ExitStatus verbReload(const VerbContext& context);
ExitStatus verbOpen(const VerbContext& context);
ExitStatus verbEnd(const VerbContext& context);
ExitStatus verbAdopt(const VerbContext& context);
ExitStatus verbVacuum(const VerbContext& context);
ExitStatus verbCheckConfig(const VerbContext& context);
ExitStatus verbConfig(const VerbContext& context);
ExitStatus verbDoctor(const VerbContext& context);
ExitStatus verbVersion(const VerbContext& context);
ExitStatus verbWait(const VerbContext& context);
/// Does `pinfold run --dry-run`.
ExitStatus verbRun(const VerbContext& context);

/// The function of a verb. nullptr: there is no verb of this name.
Verb findVerb(const std::string& name);

/// For a `pinfold run` with --dry-run before the command: how many words before the command are pinfold's own.
std::optional<int> wordsOfDryRun(int argc, char** argv);

/// `pinfold run` without --dry-run: this process becomes pinfold-run, which reads the options itself. For other command lines,
/// returns how many words to parse.
int becomePinfoldRun(int argc, char** argv);

} // namespace pinfold
