// SPDX-License-Identifier: LGPL-2.1-or-later
// Prints the completions for a shell. Only the build of pinfold runs the program `completions`, and the build does not install
// the program.
#include "completions/commands.hpp"

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace {

std::string scriptFor(std::string_view shell) {
    for (const auto& [name, script] : {std::pair{"bash", &pinfold::bashScript}, std::pair{"zsh", &pinfold::zshScript},
                                       std::pair{"fish", &pinfold::fishScript}})
        if (shell == name)
            return script(pinfold::allCommands());
    return "";
}

} // namespace

int main(int argc, char** argv) {
    try {
        const auto script = argc == 2 ? scriptFor(argv[1]) : "";
        if (script.empty()) {
            std::fputs("usage: completions bash|zsh|fish\n", stderr);
            return 2;
        }
        return std::fputs(script.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? 1 : 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "completions: %s\n", error.what());
        return 1;
    }
}
