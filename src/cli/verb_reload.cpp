// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus_client/manager_client.hpp"
#include "cli/verbs.hpp"

namespace pinfold {
namespace {

ExitStatus reload(const VerbContext&) {
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    const auto reloaded = client->reload();
    return reloaded ? ExitStatus::Ok : fail(reloaded.error());
}

} // namespace

Verb reloadVerb() { return makeVerb("reload", "make pinfoldd read its configuration again", reload); }

} // namespace pinfold
