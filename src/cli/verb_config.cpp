// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/escape.hpp"
#include "cli/common_options.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"
#include "config/config_values.hpp"
#include "model/json.hpp"

#include <fmt/core.h>

#include <cstdio>

namespace pinfold {
namespace {

struct ConfigOptions {
    std::string root = "/";
};

OptionSet describe(ConfigOptions& options) { return {rootOption(options.root)}; }

/// Returns the configuration in the form of a single TOML file. Numbers, texts and lists have the same syntax in TOML and in
/// JSON.
std::string asToml(const std::vector<ConfigValue>& values) {
    std::string text;
    std::string section;
    for (const auto& value : values) {
        if (value.section != section)
            text += (text.empty() ? "[" : "\n[") + printable(value.section, 200) + "]\n";
        section = value.section;
        text += fmt::format("{} = {}  # {}:{}\n", printable(value.key, 200), dumpAscii(parseJson(value.json)),
                            printable(value.file.string()), value.line);
    }
    return text + (values.empty() ? "" : "\n") + "# Settings that are not listed have their defaults, see pinfold.toml(5).\n";
}

ExitStatus config(const VerbContext& context, const ConfigOptions& options) {
    const auto paths = ConfigPaths::below(options.root);
    const auto loaded = loadConfig(paths);
    if (!loaded)
        return fail(loaded.error());
    const auto values = configValues(paths);
    if (!values)
        return fail(values.error());
    for (const auto& warning : loaded->warnings)
        std::fprintf(stderr, "pinfold: %s\n", warning.c_str());
    context.terminal.print(context.json ? jsonConfigValues(*values) : asToml(*values));
    return loaded->warnings.empty() ? ExitStatus::Ok : ExitStatus::Failed;
}

} // namespace

Verb configVerb() { return makeVerb<ConfigOptions>("config", "show what the configuration sets, and where", describe, config); }

} // namespace pinfold
