// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/become_run.hpp"

#include "base/error_code.hpp"
#include "build_config.hpp"
#include "cli/verbs.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace pinfold {
namespace {

/// Returns true if the word is an option that has its value in the next word of the command line.
bool takesNextWord(const OptionSet& options, std::string_view word) {
    if (word.find('=') != word.npos)
        return false;
    const auto* option = findOption(options, word);
    return option ? !option->isFlag() : word.starts_with("--");
}

} // namespace

std::optional<int> wordsOfDryRun(int argc, char** argv) {
    OutputOptions output;
    auto options = runVerb().options;
    append(options, outputOptions(output));
    bool dryRun = false;
    int command = 2;
    for (; command < argc && *argv[command] == '-' && std::string_view(argv[command]) != "--"; ++command) {
        dryRun = dryRun || std::string_view(argv[command]) == "--dry-run";
        if (takesNextWord(options, argv[command]))
            ++command;
    }
    return dryRun ? std::optional(std::min(command, argc)) : std::nullopt;
}

int becomePinfoldRun(int argc, char** argv) {
    if (argc < 2 || std::string_view(argv[1]) != "run")
        return argc;
    if (const auto words = wordsOfDryRun(argc, argv))
        return *words;
    std::string name = "pinfold-run";
    argv[1] = name.data();
    ::execv(PINFOLD_RUN, argv + 1);
    std::fprintf(stderr, "pinfold: %s: %s\n", PINFOLD_RUN, std::strerror(errno));
    ::_exit(kRunFailed);
}

} // namespace pinfold
