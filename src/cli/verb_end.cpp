// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/patience.hpp"
#include "cli/verbs.hpp"

namespace pinfold {

ExitStatus verbEnd(const VerbContext& context) {
    const auto& line = context.line;
    const auto timeout = line.timeout.value_or(CommandLine::kDefaultTimeout);
    const auto receipt = insist<Receipt>([&](const ManagerClient& client) { return client.end(line.job, line.exit, timeout); });
    return endWithReceipt(context, receipt);
}

} // namespace pinfold
