// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/json.hpp"
#include "cli/patience.hpp"
#include "cli/verbs.hpp"

namespace pinfold {

ExitStatus verbEnd(const VerbContext& context) {
    const auto& line = context.line;
    const auto timeout = line.timeout.value_or(CommandLine::kDefaultTimeout);
    const auto receipt = insist<Receipt>([&](const ManagerClient& client) { return client.end(line.job, line.exit, timeout); });
    if (!receipt)
        return fail(receipt.error());
    if (line.json)
        context.terminal.print(jsonReceipt(*receipt));
    return ExitStatus::Ok;
}

} // namespace pinfold
