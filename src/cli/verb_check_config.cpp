// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/json.hpp"
#include "cli/verbs.hpp"
#include "config/config.hpp"

#include <cstdio>

namespace pinfold {

ExitStatus verbCheckConfig(const VerbContext& context) {
    const auto loaded = loadConfig(ConfigPaths::below(context.line.root));
    if (context.line.json) {
        context.terminal.print(jsonConfigCheck(loaded));
        return loaded && loaded->warnings.empty() ? ExitStatus::Ok : ExitStatus::Failed;
    }
    if (!loaded)
        return fail(loaded.error());
    for (const auto& warning : loaded->warnings)
        std::fprintf(stderr, "pinfold: %s\n", warning.c_str());
    if (!loaded->warnings.empty())
        return ExitStatus::Failed;
    std::string text;
    for (const auto& file : loaded->files)
        text += file.string() + "\n";
    context.terminal.print(
        text + (loaded->files.empty() ? "there is no configuration file: the defaults apply\n" : "the configuration is valid\n"));
    return ExitStatus::Ok;
}

} // namespace pinfold
