// SPDX-License-Identifier: LGPL-2.1-or-later
#include "build_config.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

Result<std::string> versionOfDaemon() {
    const auto client = ManagerClient::connect();
    return client ? client->version() : Result<std::string>(client.error());
}

ExitStatus version(const VerbContext& context) {
    const auto daemon = versionOfDaemon();
    context.terminal.print(
        context.json ? jsonVersions(daemon ? std::optional(*daemon) : std::nullopt)
                     : fmt::format("pinfold {}\n{}\n", PINFOLD_VERSION, daemon ? "pinfoldd " + *daemon : daemon.error().message));
    return ExitStatus::Ok;
}

} // namespace

Verb versionVerb() { return makeVerb("version", "show the versions of pinfold and pinfoldd", version); }

} // namespace pinfold
