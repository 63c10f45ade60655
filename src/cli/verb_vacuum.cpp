// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"

namespace pinfold {

ExitStatus verbVacuum(const VerbContext& context) {
    const auto client = ManagerClient::connect();
    if (!client)
        return fail(client.error());
    const auto done = client->vacuum({.maxAge = context.line.maxAge, .maxBytes = context.line.maxSize});
    if (!done)
        return fail(done.error());
    context.terminal.print(context.line.json
                               ? jsonVacuumed(*done)
                               : counted(done->removed, "receipt", "receipts") + " removed; the remaining receipts take " +
                                     context.amounts.size(done->bytes) + "\n");
    return ExitStatus::Ok;
}

} // namespace pinfold
