// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares the output options, which every verb accepts.
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "cli/format.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "options/option.hpp"
#include "wording/amounts.hpp"

#include <string>

namespace pinfold {

struct OutputOptions {
    bool json = false;
    bool legend = true;
    bool pairs = false;    ///< the user has passed the option --pairs
    bool rawBytes = false; ///< the user has passed the option --bytes
    TerminalOptions terminal;
};

/// Returns the options that are common to all verbs.
OptionSet outputOptions(OutputOptions& options);

/// Says where and how a verb prints.
struct VerbContext {
    explicit VerbContext(const OutputOptions& outputOptions)
        : output(outputOptions), json(output.json), terminal(output.terminal), amounts{.raw = output.rawBytes, .local = true} {}

    TableStyle tableStyle() const { return {output.legend, output.pairs ? 0 : terminal.width(), output.pairs, RealClock::now()}; }

    OutputOptions output;
    bool json;
    Terminal terminal;
    Amounts amounts;
    std::string title = {}; ///< the line before the output of a job, including the line break; empty if the verb handles one job
};

/// After a call of nameErrorsAfter(), each error message of fail() contains the name of the job. A verb that handles several jobs
/// calls nameErrorsAfter() before the verb handles the next job.
void nameErrorsAfter(const std::string& job);

/// Prints an error message on one line, and returns the exit status for the error.
ExitStatus fail(const Error& error);

} // namespace pinfold
