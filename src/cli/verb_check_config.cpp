// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/common_options.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"
#include "config/config.hpp"

#include <cstdio>

namespace pinfold {
namespace {

struct CheckConfigOptions {
    std::string root = "/";
};

OptionSet describe(CheckConfigOptions& options) { return {rootOption(options.root)}; }

ExitStatus checkConfig(const VerbContext& context, const CheckConfigOptions& options) {
    const auto loaded = loadConfig(ConfigPaths::below(options.root));
    if (context.json) {
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

} // namespace

Verb checkConfigVerb() { return makeVerb<CheckConfigOptions>("check-config", "check the configuration", describe, checkConfig); }

} // namespace pinfold
