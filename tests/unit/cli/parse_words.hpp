// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/command_line.hpp"

#include <string>
#include <variant>
#include <vector>

namespace pinfold {

inline std::variant<CommandLine, EarlyExit> parse(std::vector<std::string> words, std::vector<Verb> verbs = allVerbs()) {
    words.insert(words.begin(), "pinfold");
    std::vector<char*> argv;
    for (auto& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    return parseCommandLine(static_cast<int>(words.size()), argv.data(), std::move(verbs));
}

} // namespace pinfold
