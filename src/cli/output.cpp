// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/output.hpp"

#include "base/escape.hpp"

#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace pinfold {
namespace {

std::string failingJob; // the key of the job in printable form, with a separator at the end

OptionSetter off(bool& target) {
    return [&target](const std::string&) -> Result<void> {
        target = false;
        return {};
    };
}

OptionSetter intoColor(ColorMode& target) {
    return [&target](const std::string& mode) -> Result<void> {
        target = mode == "always" ? ColorMode::Always : mode == "never" ? ColorMode::Never : ColorMode::Auto;
        return {};
    };
}

/// Sets the process's time zone to UTC, so that functions such as localtime(3) return times in UTC.
Result<void> useUtc(const std::string&) {
    ::setenv("TZ", "UTC0", 1);
    ::tzset();
    return {};
}

} // namespace

OptionSet outputOptions(OutputOptions& options) {
    return {{.name = "--json", .help = "print one JSON document", .set = into(options.json)},
            {.name = "--pairs",
             .letter = 'P',
             .help = "print each row of a table as a line of NAME=\"value\"",
             .set = into(options.pairs)},
            {.name = "--no-legend", .help = "print no column headers", .set = off(options.legend)},
            {.name = "--no-pager", .help = "do not use a pager", .set = off(options.terminal.pager)},
            {.name = "--full", .help = "do not cut long lines", .set = into(options.terminal.full)},
            {.name = "--bytes", .help = "print sizes in bytes and durations in microseconds", .set = into(options.rawBytes)},
            {.name = "--utc", .help = "show and read times in UTC, not in the local time zone", .set = useUtc},
            {.name = "--color",
             .value = "WHEN",
             .help = "use colors",
             .set = intoColor(options.terminal.color),
             .words = {"auto", "always", "never"}},
            {.name = "--help", .letter = 'h', .help = "show this help"}};
}

void nameErrorsAfter(const std::string& job) { failingJob = printable(job, 300) + ": "; }

ExitStatus fail(const Error& error) {
    std::fprintf(stderr, "pinfold: %s%s\n", failingJob.c_str(), error.message.c_str());
    return errorRow(error.code).exitStatus;
}

} // namespace pinfold
