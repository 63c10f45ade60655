// SPDX-License-Identifier: LGPL-2.1-or-later
#include "build_config.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"

namespace pinfold {

ExitStatus verbVersion(const VerbContext& context) {
    std::optional<std::string> daemon;
    if (const auto client = ManagerClient::connect())
        if (auto version = client->version())
            daemon = std::move(*version);
    context.terminal.print(context.line.json
                               ? jsonVersions(daemon)
                               : "pinfold " PINFOLD_VERSION "\npinfoldd " + daemon.value_or("is not reachable") + "\n");
    return ExitStatus::Ok;
}

} // namespace pinfold
