// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/help_page.hpp"

#include "options/help.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

constexpr std::size_t kColumn = 16; ///< the column of the help page in which the summaries begin

constexpr const char* kExamples = "Examples:\n"
                                  "  pinfold list                         list the jobs of this node\n"
                                  "  pinfold status sge.4711              show a job's limits, usage and processes\n"
                                  "  pinfold top                          watch what the jobs use\n"
                                  "  pinfold why sge.4711                 explain how a job ended\n"
                                  "  pinfold history -S -1d --json        show the receipts of the last 24 hours\n"
                                  "  pinfold run --job manual.x --memory-max 1G -- ./job.sh\n";

} // namespace

std::string helpPage(const std::vector<Verb>& verbs) {
    std::string text = "pinfold shows and manages the batch jobs of this node.\n"
                       "\n"
                       "Usage: pinfold [OPTIONS] COMMAND ...\n"
                       "\n";
    text += kExamples;
    text += "\nCommands:\n";
    for (const auto& verb : verbs)
        text += helpEntry(verb.name, verb.summary, kColumn);
    OutputOptions output;
    auto options = outputOptions(output);
    append(options, {{.name = "--version", .help = "show the version"}});
    return fmt::format("{}{}\nEach command has options of its own: see pinfold COMMAND --help, and pinfold(1).\n", text,
                       optionsHelp(options));
}

std::string helpPage(const Verb& verb) {
    return fmt::format("Usage: {}\n\n{}\n{}\nAll commands have the options that pinfold --help lists.\n",
                       usageLine("pinfold " + verb.name, verb.options), verb.summary, optionsHelp(verb.options));
}

} // namespace pinfold
