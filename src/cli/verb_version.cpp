// SPDX-License-Identifier: LGPL-2.1-or-later
#include "build_config.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

ExitStatus version(const VerbContext& context) {
    std::optional<std::string> daemon;
    if (const auto client = ManagerClient::connect())
        if (auto answer = client->version())
            daemon = std::move(*answer);
    context.terminal.print(context.json
                               ? jsonVersions(daemon)
                               : fmt::format("pinfold {}\npinfoldd {}\n", PINFOLD_VERSION, daemon.value_or("is not reachable")));
    return ExitStatus::Ok;
}

} // namespace

Verb versionVerb() { return makeVerb("version", "show the versions of pinfold and pinfoldd", version); }

} // namespace pinfold
