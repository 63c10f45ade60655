// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/verbs.hpp"

namespace pinfold {

ExitStatus verbReload(const VerbContext&) {
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    const auto reloaded = client->reload();
    return reloaded ? ExitStatus::Ok : fail(reloaded.error());
}

} // namespace pinfold
