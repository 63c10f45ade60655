// SPDX-License-Identifier: LGPL-2.1-or-later
// What the options that all verbs have say about the output.
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "cli/format.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "options/option.hpp"
#include "text/amounts.hpp"

#include <string>

namespace pinfold {

struct OutputOptions {
    bool json = false;
    bool legend = true;
    bool pairs = false;
    bool rawBytes = false; ///< --bytes
    TerminalOptions terminal;
};

/// The options that all verbs have.
OptionSet outputOptions(OutputOptions& options);

/// Where and how a verb prints.
struct VerbContext {
    explicit VerbContext(const OutputOptions& outputOptions)
        : output(outputOptions), json(output.json), terminal(output.terminal), amounts{output.rawBytes} {}

    TableStyle tableStyle() const { return {output.legend, output.pairs ? 0 : terminal.width(), output.pairs, realTimeNow()}; }

    OutputOptions output;
    bool json;
    Terminal terminal;
    Amounts amounts;
    std::string title = {}; ///< the line above what is printed for one of several jobs, with its line break
};

/// Says which of several jobs is handled now, so that fail() names it.
void nameErrorsAfter(const std::string& job);

/// Prints the error in one line, and returns its exit status.
ExitStatus fail(const Error& error);

} // namespace pinfold
